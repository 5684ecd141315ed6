import { type Insertable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { rowSet } from '../../platform/db/rows/row-sets.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type ReceivedData = {
  team_id: string
  user_id: string
  provider: string
  resource: string
  stage: string
  oldest: string | null
  newest: string | null
  /** Samples and summaries in events. */
  sent: number
  at: string
}

/** Received data of resources as a parameter of `write_pushes`. */
export const receivedValue = (received: ReceivedData[]) =>
  rowSet(received, ['user_id', 'provider', 'resource', 'stage', 'oldest', 'newest', 'sent', 'at'])

/** Records received data of a resource. Samples do it in the statement that writes them. */
export const recordReceived = (db: Db, received: ReceivedData) =>
  sql`select write_pushes(${received.team_id}, null, null, ${receivedValue([received])}, null, null, null, null)`.execute(db)

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

/** Records that resources were read, with or without data. Nothing if the user was erased meanwhile. */
export const recordAttempt = (db: Db, { team_id, user_id, provider }: SourceScope, resources: string[], status: string, at: string) =>
  sql`
    insert into resource_states (team_id, user_id, provider, resource, stage, sent_count, last_attempt_at, last_status)
    select u.team_id, u.user_id, ${provider}, resource, 'daily', 0, ${at}, ${status}
    from users u cross join unnest(${resources}::text[]) as resource where u.team_id = ${team_id} and u.user_id = ${user_id}
    on conflict (team_id, user_id, provider, resource, stage) do update set
      last_attempt_at = excluded.last_attempt_at, last_status = excluded.last_status`.execute(db)

export const lockPulls = (db: Db, { team_id, user_id, provider }: SourceScope, resources: string[]) =>
  db
    .selectFrom('historical_pulls')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
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
      conflict.columns(['team_id', 'user_id', 'provider', 'resource']).doUpdateSet((eb) => ({
        status: eb.ref('excluded.status'),
        range_start: eb.ref('excluded.range_start'),
        range_end: eb.ref('excluded.range_end'),
        scheduled_at: eb.ref('excluded.scheduled_at'),
        started_at: eb.ref('excluded.started_at'),
        ended_at: eb.ref('excluded.ended_at'),
        days_with_data: eb.ref('excluded.days_with_data'),
        error_details: eb.ref('excluded.error_details'),
        announced: eb.ref('excluded.announced'),
      })),
    )
    .execute()
}

/** Marks historical pulls as started. The results of an earlier pull stay until this one ends. */
export const beginPulls = (db: Db, { team_id, user_id, provider }: SourceScope, resources: string[], now: string) =>
  sql`
    insert into historical_pulls as h (team_id, user_id, provider, resource, status, scheduled_at, started_at)
    select ${team_id}, ${user_id}, ${provider}, unnest(${resources}::text[]), 'in_progress', ${now}, ${now}
    on conflict (team_id, user_id, provider, resource) do update set
      status = 'in_progress', error_details = null, ended_at = null,
      scheduled_at = excluded.scheduled_at, started_at = excluded.started_at`.execute(db)

export const retryPulls = (db: Db, scope: PullScope) =>
  unfinishedPulls(db, scope).set({ status: 'in_progress', error_details: null }).execute()

/** Without `resources`, all of them. */
type PullScope = SourceScope & { resources?: string[] }

export const endPulls = (db: Db, scope: PullScope, end: { status: string; error_details: string | null; ended_at: string | null }) =>
  unfinishedPulls(db, scope).set(end).execute()

const unfinishedPulls = (db: Db, { team_id, user_id, provider, resources }: PullScope) =>
  db
    .updateTable('historical_pulls')
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('provider', '=', provider)
    .where('status', 'in', ['in_progress', 'retrying'])
    .$if(resources !== undefined, (query) => query.where('resource', '=', sql<string>`any(${resources}::text[])`))
