import { CompiledQuery, type Insertable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type ReceivedData = {
  team_id: string
  user_id: string
  provider: string
  resource: string
  stage: string
  oldest: string | null
  newest: string | null
  sentCount: number
  at: string
}

/** Records received data of a resource. Larger statements embed this text with the same first parameters. */
export const receivedText = `insert into resource_states as s
    (team_id, user_id, provider, resource, stage, oldest_data, newest_data, sent_count, last_attempt_at, last_status)
  values ($1::uuid, $2::uuid, $3::text, $4::text, $5::text, $6::timestamptz, $7::timestamptz, $8::bigint, $9::timestamptz, 'success')
  on conflict (user_id, provider, resource, stage) do update set
    oldest_data = least(s.oldest_data, excluded.oldest_data),
    newest_data = greatest(s.newest_data, excluded.newest_data),
    sent_count = s.sent_count + excluded.sent_count,
    last_attempt_at = excluded.last_attempt_at,
    last_status = excluded.last_status`

export const receivedValues = ({ team_id, user_id, provider, resource, stage, oldest, newest, sentCount, at }: ReceivedData) => [
  ...[team_id, user_id, provider, resource, stage, oldest, newest, sentCount, at],
]

export const recordReceived = (db: Db, received: ReceivedData) => db.executeQuery(CompiledQuery.raw(receivedText, receivedValues(received)))

export const findLastReceived = (db: Db, team_id: string, user_id: string, provider: string) =>
  db
    .selectFrom('resource_states')
    .select((eb) => eb.fn.max('last_attempt_at').as('at'))
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('provider', '=', provider)
    .where('stage', '=', 'daily')
    .executeTakeFirst()

type SourceScope = { team_id: string; user_id: string; provider: string }

export const lockPulls = (db: Db, { team_id, user_id, provider }: SourceScope, resources: string[]) =>
  db
    .selectFrom('historical_pulls')
    .selectAll()
    .where('user_id', '=', user_id)
    .where('team_id', '=', team_id)
    .where('provider', '=', provider)
    .where('resource', '=', sql<string>`any(${resources}::text[])`)
    .orderBy('resource')
    .forUpdate()
    .execute()

export const upsertPulls = async (db: Db, rows: Insertable<Tables['historical_pulls']>[]) => {
  if (!rows.length) return
  await db
    .insertInto('historical_pulls')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'provider', 'resource']).doUpdateSet((eb) => ({
        status: eb.ref('excluded.status'),
        range_start: eb.ref('excluded.range_start'),
        range_end: eb.ref('excluded.range_end'),
        scheduled_at: eb.ref('excluded.scheduled_at'),
        started_at: eb.ref('excluded.started_at'),
        ended_at: eb.ref('excluded.ended_at'),
        days_with_data: eb.ref('excluded.days_with_data'),
        error_details: eb.ref('excluded.error_details'),
        told: eb.ref('excluded.told'),
      })),
    )
    .execute()
}

/** Marks historical pulls as started. The results of an earlier pull stay until this one ends. */
export const beginPulls = (db: Db, { team_id, user_id, provider }: SourceScope, resources: string[], now: string) =>
  sql`
    insert into historical_pulls as h (team_id, user_id, provider, resource, status, scheduled_at, started_at)
    select ${team_id}, ${user_id}, ${provider}, unnest(${resources}::text[]), 'in_progress', ${now}, ${now}
    on conflict (user_id, provider, resource) do update set
      status = 'in_progress', error_details = null, ended_at = null,
      scheduled_at = excluded.scheduled_at, started_at = excluded.started_at`.execute(db)

export const retryPulls = (db: Db, { team_id, user_id, provider }: SourceScope) =>
  unfinishedPulls(db, { team_id, user_id, provider }).set({ status: 'in_progress', error_details: null }).execute()

export const endPulls = (db: Db, scope: SourceScope, end: { status: string; error_details: string | null; ended_at: string | null }) =>
  unfinishedPulls(db, scope).set(end).execute()

const unfinishedPulls = (db: Db, { team_id, user_id, provider }: SourceScope) =>
  db
    .updateTable('historical_pulls')
    .where('user_id', '=', user_id)
    .where('team_id', '=', team_id)
    .where('provider', '=', provider)
    .where('status', 'in', ['in_progress', 'retrying'])
