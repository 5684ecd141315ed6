import { type Insertable, sql } from 'kysely'
import type { Db } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

export type Received = {
  team_id: string
  user_id: string
  provider: string
  resource: string
  oldest: string | null
  newest: string | null
  sent: number
  at: string
}

/** Notes what came in of a resource. */
export const noteReceived = (db: Db, { team_id, user_id, provider, resource, oldest, newest, sent, at }: Received) =>
  sql`
    insert into resource_states as s
      (user_id, team_id, provider, resource, oldest_data, newest_data, sent_count, last_attempt_at, last_status)
    values (${user_id}, ${team_id}, ${provider}, ${resource}, ${oldest}, ${newest}, ${sent}, ${at}, 'success')
    on conflict (user_id, provider, resource) do update set
      oldest_data = least(s.oldest_data, excluded.oldest_data),
      newest_data = greatest(s.newest_data, excluded.newest_data),
      sent_count = s.sent_count + excluded.sent_count,
      last_attempt_at = excluded.last_attempt_at,
      last_status = excluded.last_status`.execute(db)

/** When something came in of a source for the last time. */
export const lastReceived = (db: Db, team_id: string, user_id: string, provider: string) =>
  db
    .selectFrom('resource_states')
    .select((eb) => eb.fn.max('last_attempt_at').as('at'))
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('provider', '=', provider)
    .executeTakeFirst()

type Whose = { team_id: string; user_id: string; provider: string }

export const lockPulls = (db: Db, { team_id, user_id, provider }: Whose, resources: string[]) =>
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
      })),
    )
    .execute()
}
