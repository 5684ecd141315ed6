import { sql } from 'kysely'
import type { Db } from '../db/open.ts'

/** Which days: of one user, one resource and one source. */
export type Shelf = { team_id: string; user_id: string; resource: string; provider: string }
export type DayKey = { day: string; source_type: string }
export type DayRow = DayKey & { revision: number; sealed: Buffer }

/** The days that exist of those, held until the transaction ends; always in the same order, so that two writers never wait for each other. */
export async function lockDays(db: Db, { team_id, user_id, resource, provider }: Shelf, keys: DayKey[]) {
  const { rows } = await sql<DayRow>`
    select d.day, d.source_type, d.revision, d.sealed
    from unnest(${keys.map(({ day }) => day)}::date[], ${keys.map(({ source_type }) => source_type)}::text[]) as wanted (day, source_type)
    join sample_days d on d.user_id = ${user_id} and d.resource = ${resource} and d.day = wanted.day
      and d.provider = ${provider} and d.source_type = wanted.source_type and d.team_id = ${team_id}
    order by d.day, d.source_type
    for update of d`.execute(db)
  return rows
}

export type WrittenDay = DayRow & { samples: number }

/** What came in of a resource. */
export type State = { resource: string; oldest: string; newest: string; sent: number; at: string }
export type Event = { id: string; event_type: string; key: string; sealed: Buffer }

/**
 * Writes days, the state of their resource and the events about them in one round trip. Answers how many days were written, since a new
 * day that somebody else began meanwhile is left alone, and which webhooks are told.
 */
export async function writeBatch(db: Db, shelf: Shelf, days: WrittenDay[], state: State, events: Event[]) {
  const { team_id, user_id, provider } = shelf
  const told = events.map(({ id, event_type, key, sealed }) => sql`(${id}::uuid, ${event_type}, ${key}, ${sealed}::bytea)`)
  const { rows } = await sql<{ written: number; told: string[] }>`
    with days as (${insertDays(shelf, days)} returning 1),
    state as (
      insert into resource_states as s (user_id, team_id, provider, resource, oldest_data, newest_data, sent_count, last_attempt_at, last_status)
      values (${user_id}, ${team_id}, ${provider}, ${state.resource}, ${state.oldest}, ${state.newest}, ${state.sent}, ${state.at}, 'success')
      on conflict (user_id, provider, resource) do update set
        oldest_data = least(s.oldest_data, excluded.oldest_data),
        newest_data = greatest(s.newest_data, excluded.newest_data),
        sent_count = s.sent_count + excluded.sent_count,
        last_attempt_at = excluded.last_attempt_at,
        last_status = excluded.last_status
    ),
    told as (
      ${told.length ? sql`select emit(e.id, ${team_id}, ${user_id}, null, e.event_type, e.key, e.sealed, ${state.at}, false) as webhooks from (values ${sql.join(told)}) as e (id, event_type, key, sealed)` : sql`select '{}'::uuid[] as webhooks`}
    )
    select (select count(*) from days) as written,
      (select coalesce(array_agg(distinct webhook), '{}') from told, unnest(told.webhooks) as webhook) as told`.execute(db)
  return rows[0] ?? { written: 0, told: [] }
}

const insertDays = ({ team_id, user_id, resource, provider }: Shelf, days: WrittenDay[]) => sql`
  insert into sample_days as d (user_id, team_id, resource, day, provider, source_type, samples, revision, sealed)
  select ${user_id}::uuid, ${team_id}::uuid, ${resource}::text, t.day, ${provider}::text, t.source_type, t.samples, t.revision, t.sealed
  from unnest(
    ${days.map(({ day }) => day)}::date[],
    ${days.map(({ source_type }) => source_type)}::text[],
    ${days.map(({ samples }) => samples)}::integer[],
    ${days.map(({ revision }) => revision)}::integer[],
    ${days.map(({ sealed }) => sealed)}::bytea[]
  ) as t (day, source_type, samples, revision, sealed)
  on conflict (user_id, resource, day, provider, source_type)
  do update set samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed
  where d.revision = excluded.revision - 1`

export type Window = {
  team_id: string
  user_id: string
  resource: string
  provider: string | undefined
  from: string
  to: string
  /** The day from which to go on, or after which if it is done with. */
  after?: { day: string; provider: string; source_type: string } | undefined
  isDone?: boolean
}
export type ReadDay = { day: string; provider: string; source_type: string; sealed: Buffer }

/** The days of a window in their order, as many as hold so many samples, or one more; from `after` on. */
export async function readDays(db: Db, { team_id, user_id, resource, provider, from, to, after, isDone }: Window, samples: number) {
  const { rows } = await sql<ReadDay>`
    select day, provider, source_type, sealed from (
      select day, provider, source_type, sealed, sum(samples) over (order by day, provider, source_type) - samples as before
      from sample_days
      where user_id = ${user_id} and team_id = ${team_id} and resource = ${resource} and day between ${from} and ${to}
        ${provider ? sql`and provider = ${provider}` : sql``}
        ${after ? sql`and (day, provider, source_type) ${sql.raw(isDone ? '>' : '>=')} (${after.day}::date, ${after.provider}, ${after.source_type})` : sql``}
    ) d
    where before < ${samples}
    order by day, provider, source_type`.execute(db)
  return rows
}

/** How many samples the days of a window hold. */
export async function countSamples(db: Db, { team_id, user_id, resource, provider, from, to }: Window) {
  const { count } = await db
    .selectFrom('sample_days')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('samples'), sql<number>`0`).as('count'))
    .where('user_id', '=', user_id)
    .where('team_id', '=', team_id)
    .where('resource', '=', resource)
    .where(sql<boolean>`day between ${from} and ${to}`)
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider as string))
    .executeTakeFirstOrThrow()
  return Number(count)
}
