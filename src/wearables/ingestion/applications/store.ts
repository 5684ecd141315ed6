import { type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

export type CloudClient = Selectable<Tables['cloud_clients']>

/** In `subscribe_error`: no connection needs notifications, so there is no subscription. */
export const UNUSED = 'unused'

/** Records the application of a team. A new one, or one that had no connections, has to subscribe to notifications. */
export const putClient = (db: Db, team_id: string, provider: string, client_hash: Buffer, now: string) =>
  db
    .insertInto('cloud_clients')
    .values({ team_id, provider, client_hash, subscribe_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['team_id', 'provider'])
        .doUpdateSet({ client_hash, subscribe_at: now, blocked_until: null, quota_limit: null, quota_remaining: null })
        .where((eb) => eb.or([eb('cloud_clients.client_hash', '!=', client_hash), eb('cloud_clients.subscribe_error', '=', UNUSED)])),
    )
    .execute()

/** Records other credentials of a team that has connections. The limits of the earlier application do not apply to another one. */
export const changeClient = (
  db: Db,
  { team_id, provider }: Pick<CloudClient, 'team_id' | 'provider'>,
  client_hash: Buffer,
  now: string,
) => {
  const kept = <T>(column: string) => sql<T | null>`case when client_hash = ${client_hash} then ${sql.ref(column)} end`
  return db
    .updateTable('cloud_clients')
    .set({
      client_hash,
      subscribe_at: now,
      blocked_until: kept<string>('blocked_until'),
      quota_limit: kept<number>('quota_limit'),
      quota_remaining: kept<number>('quota_remaining'),
    })
    .where('team_id', '=', team_id)
    .where('provider', '=', provider)
    .executeTakeFirstOrThrow()
}

export const findClient = (db: Db, team_id: string, provider: string) =>
  db.selectFrom('cloud_clients').selectAll().where('team_id', '=', team_id).where('provider', '=', provider).executeTakeFirst()

/** The teams with connections to a source. */
export const listTeams = async (db: Db, provider: string) =>
  (
    await db
      .selectFrom('cloud_clients')
      .select('team_id')
      .where('provider', '=', provider)
      .modifyEnd(anyTeam('teams with connections to a source'))
      .execute()
  ).map(({ team_id }) => team_id)

/** The teams that share the application. */
export const listSharing = (db: Db, { provider, client_hash }: CloudClient) =>
  db
    .selectFrom('cloud_clients')
    .select(['team_id', 'provider'])
    .where('provider', '=', provider)
    .where('client_hash', '=', client_hash)
    .modifyEnd(anyTeam('teams that share an application'))
    .execute()

export const updateClient = (
  db: Db,
  { team_id, provider }: Pick<CloudClient, 'team_id' | 'provider'>,
  change: Updateable<Tables['cloud_clients']>,
) => db.updateTable('cloud_clients').set(change).where('team_id', '=', team_id).where('provider', '=', provider).execute()

/** Finds applications of any team whose subscription is due. */
export const searchSubscriptions = (db: Db, now: string) =>
  db
    .selectFrom('cloud_clients')
    .select(['team_id', 'provider'])
    .where('subscribe_at', '<=', now)
    .orderBy('subscribe_at')
    .modifyEnd(anyTeam('due subscriptions'))

export const findDueSubscriptions = (db: Db, now: string, limit: number) => searchSubscriptions(db, now).limit(limit).execute()

/** Claims a due subscription until `until`. */
export const claimSubscription = (db: Db, { team_id, provider }: Pick<CloudClient, 'team_id' | 'provider'>, now: string, until: string) =>
  db
    .updateTable('cloud_clients')
    .set({ subscribe_at: until })
    .where('team_id', '=', team_id)
    .where('provider', '=', provider)
    .where('subscribe_at', '<=', now)
    .returningAll()
    .executeTakeFirst()

/** The lowest known quota of each source, in every team. */
export async function summarizeQuotas(db: Db) {
  const { rows } = await sql<{ provider: string; remaining: number }>`
    select provider, min(quota_remaining) as remaining from cloud_clients where quota_remaining is not null
    group by provider ${anyTeam('quotas by source')}`.execute(db)
  return rows
}
