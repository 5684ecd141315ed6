import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { type Db, prepareRead } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type ConnectionRow = Selectable<Tables['connections']>

const connectionColumns = [
  ...(['id', 'team_id', 'user_id', 'provider', 'kind', 'status', 'error_type', 'error_message', 'errored_at'] as const),
  ...(['account_hash', 'sealed', 'expires_at', 'created_at', 'updated_at', 'renewing_until', 'ended_at'] as const),
  ...(['deregister_tries', 'deregister_at', 'pull_tries', 'pull_due_at'] as const),
]

const liveConnections = (db: Db, team_id: string) =>
  db.selectFrom('connections').select(connectionColumns).where('team_id', '=', team_id).where('ended_at', 'is', null)

const connectionQuery = prepareRead('find_connection', (db, team_id: string, user_id: string, provider: string) =>
  liveConnections(db, team_id).where('user_id', '=', user_id).where('provider', '=', provider),
)

export const findConnection = async (db: Db, team_id: string, user_id: string, provider: string) =>
  (await connectionQuery(db, team_id, user_id, provider))[0]

const connectionExists = prepareRead('has_connection', (db, team_id: string, user_id: string, provider: string) =>
  db
    .selectFrom('connections')
    .select('id')
    .where('team_id', '=', team_id)
    .where('ended_at', 'is', null)
    .where('user_id', '=', user_id)
    .where('provider', '=', provider),
)

export const hasConnection = async (db: Db, team_id: string, user_id: string, provider: string) =>
  (await connectionExists(db, team_id, user_id, provider)).length > 0

export const findConnectionById = (db: Db, team_id: string, id: string) =>
  liveConnections(db, team_id).where('id', '=', id).executeTakeFirst()

export const lockConnection = (db: Db, team_id: string, user_id: string, provider: string) =>
  liveConnections(db, team_id).where('user_id', '=', user_id).where('provider', '=', provider).forUpdate().executeTakeFirst()

export const listConnections = (db: Db, team_id: string, user_ids: string[]) =>
  liveConnections(db, team_id).where('user_id', '=', sql<string>`any(${user_ids}::uuid[])`).orderBy('created_at').orderBy('id').execute()

/** Lists connections to a source, oldest first, of some users or of all. */
export const pageOfConnections = (db: Db, team_id: string, provider: string, page: Page, user_ids: string[] | null) =>
  liveConnections(db, team_id)
    .where('provider', '=', provider)
    .$if(user_ids !== null, (query) => query.where('user_id', '=', sql<string>`any(${user_ids}::uuid[])`))
    .$call(ascendingPage(page, 'created_at', 'id'))
    .execute()

/** Returns undefined if the user has a connection. */
export const insertConnection = (db: Db, row: Insertable<Tables['connections']>) =>
  db
    .insertInto('connections')
    .values(row)
    .onConflict((conflict) => conflict.columns(['team_id', 'user_id', 'provider']).where('ended_at', 'is', null).doNothing())
    .returningAll()
    .executeTakeFirst()

export const updateConnection = (db: Db, { team_id, id }: { team_id: string; id: string }, change: Updateable<Tables['connections']>) =>
  db
    .updateTable('connections')
    .set(change)
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returningAll()
    .executeTakeFirst()

export const endConnections = (db: Db, team_id: string, user_id: string, end: { ended_at: string; deregister_at: string }) =>
  db
    .updateTable('connections')
    .set(end)
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('ended_at', 'is', null)
    .execute()

/** Updates only while the lease is held: a user who has connected again has newer tokens. */
export const endRenewal = (db: Db, { team_id, id, renewing_until }: ConnectionRow, change: Updateable<Tables['connections']>) =>
  db
    .updateTable('connections')
    .set({ ...change, renewing_until: null })
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .where('renewing_until', '=', renewing_until)
    .returning('id')
    .executeTakeFirst()

/** Locks a team that rejects duplicate connections, so that two users cannot connect one account at the same time. */
export const lockIfDuplicatesRejected = (db: Db, team_id: string) =>
  db
    .selectFrom('teams')
    .select('id')
    .where('id', '=', team_id)
    .where('reject_duplicate_connection', '=', true)
    .forNoKeyUpdate()
    .executeTakeFirst()

export const findSameAccount = (db: Db, team_id: string, user_id: string, provider: string, account_hash: Buffer) =>
  liveConnections(db, team_id)
    .where('provider', '=', provider)
    .where('account_hash', '=', account_hash)
    .where('user_id', '!=', user_id)
    .limit(1)
    .executeTakeFirst()

export const findOAuthConnection = (db: Db, team_id: string, provider: string) =>
  liveConnections(db, team_id).where('provider', '=', provider).where('kind', '=', 'oauth').limit(1).executeTakeFirst()

/** Finds an account by its hash in each team. */
export const findAccounts = (db: Db, provider: string, team_ids: string[], hashes: Buffer[]) =>
  db
    .selectFrom('connections')
    .select(['id', 'team_id', 'user_id'])
    .where('provider', '=', provider)
    .where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`)
    .where('account_hash', 'in', hashes)
    .where('ended_at', 'is', null)
    .modifyEnd(anyTeam('an account in the teams of an application'))
    .execute()

export const pauseConnections = (db: Db, team_id: string, provider: string, user_ids: string[], updated_at: string) =>
  db
    .updateTable('connections')
    .set({ status: 'paused', updated_at })
    .where('team_id', '=', team_id)
    .where('provider', '=', provider)
    .where('user_id', '=', sql<string>`any(${user_ids}::uuid[])`)
    .where('ended_at', 'is', null)
    .returning('user_id')
    .execute()

/** Active connections of users whose ingestion ended seven days ago on their team's clock. */
const connectionsToPause = (wall: string) => sql`
  connections c join users u on u.team_id = c.team_id and u.user_id = c.user_id join teams t on t.id = c.team_id
  where c.ended_at is null and c.status <> 'paused' and u.ingestion_end is not null
    and u.ingestion_end + interval '7 days' < ${wall}::timestamptz + t.clock_offset_ms * interval '1 millisecond'`

/** The teams with connections to pause, found among connections of any team. */
export async function findTeamsToPause(db: Db, wall: string, limit: number) {
  const { rows } = await sql<{ team_id: string }>`
    select distinct c.team_id from ${connectionsToPause(wall)} limit ${limit} ${anyTeam('connections to pause')}`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** Pauses connections of a team after ingestion ended, and returns how many. */
export async function pauseAfterIngestion(db: Db, team_id: string, wall: string, limit: number) {
  const { rows } = await sql`
    update connections set status = 'paused', updated_at = ${wall}
    where team_id = ${team_id} and id in (
      select c.id from ${connectionsToPause(wall)} and c.team_id = ${team_id} limit ${limit} for update of c skip locked)
    returning id`.execute(db)
  return rows.length
}

/** The refreshes since a time, and the first of them. */
export const countRefreshes = async (db: Db, team_id: string, user_id: string, since: string) => {
  const { rows } = await sql<{ count: number; first_at: string | null }>`
    with old as (delete from refreshes where user_id = ${user_id} and team_id = ${team_id} and at <= ${since})
    select count(*), min(at) as first_at from refreshes where user_id = ${user_id} and team_id = ${team_id} and at > ${since}`.execute(db)
  return rows[0] as { count: number; first_at: string | null }
}

export const insertRefresh = (db: Db, row: Insertable<Tables['refreshes']>) => db.insertInto('refreshes').values(row).execute()

type ConnectionId = Pick<ConnectionRow, 'team_id' | 'id'>

/** Finds ended connections of any team that are due for deregistration. */
export const searchDeregistrations = (db: Db, now: string) =>
  db
    .selectFrom('connections')
    .select(['team_id', 'id'])
    .where('ended_at', 'is not', null)
    .where('deregister_at', '<=', now)
    .orderBy('deregister_at')
    .modifyEnd(anyTeam('connections to deregister'))

export const findDeregistrations = (db: Db, now: string, limit: number) => searchDeregistrations(db, now).limit(limit).execute()

/** Locks an ended connection, unless another process has it or it is no longer due. */
export const lockDeregistration = (db: Db, { team_id, id }: ConnectionId, now: string) =>
  db
    .selectFrom('connections')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('ended_at', 'is not', null)
    .where('deregister_at', '<=', now)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

export const postponeDeregistration = (db: Db, { team_id, id }: ConnectionRow, deregister_at: string) =>
  db
    .updateTable('connections')
    .set((eb) => ({ deregister_tries: eb('deregister_tries', '+', 1), deregister_at }))
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .execute()

/** Without deregister_at, a connection is deregistered. Its row records only that the user disconnected the source. */
export const updateEnded = (
  db: Db,
  { team_id, id }: ConnectionRow,
  change: Pick<Updateable<Tables['connections']>, 'sealed' | 'account_hash' | 'deregister_at'>,
) =>
  db.updateTable('connections').set(change).where('team_id', '=', team_id).where('id', '=', id).where('ended_at', 'is not', null).execute()

export const deleteClosed = (db: Db, team_id: string, user_id: string, provider: string) =>
  db
    .deleteFrom('connections')
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('provider', '=', provider)
    .where('ended_at', 'is not', null)
    .where('deregister_at', 'is', null)
    .execute()

export const findEnded = (db: Db, team_id: string, user_id: string, provider: string) =>
  db
    .selectFrom('connections')
    .select('id')
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('provider', '=', provider)
    .where('ended_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()

/** Finds connections of any team that have a due pull. */
export const searchPulls = (db: Db, now: string) =>
  db
    .selectFrom('connections')
    .select(['team_id', 'id'])
    .where('ended_at', 'is', null)
    .where('pull_due_at', '<=', now)
    .orderBy('pull_due_at')
    .modifyEnd(anyTeam('due pulls'))

export const findDuePulls = (db: Db, now: string, limit: number) => searchPulls(db, now).limit(limit).execute()

/** Claims a due pull until `until`, unless another process has it or it is no longer due. */
export const claimPull = (db: Db, { team_id, id }: ConnectionId, now: string, until: string) =>
  db
    .updateTable('connections')
    .set((eb) => ({ pull_tries: eb('pull_tries', '+', 1), pull_due_at: until }))
    .where('team_id', '=', team_id)
    .where('id', '=', (eb) =>
      eb
        .selectFrom('connections')
        .select('id')
        .where('team_id', '=', team_id)
        .where('id', '=', id)
        .where('ended_at', 'is', null)
        .where('pull_due_at', '<=', now)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst()
