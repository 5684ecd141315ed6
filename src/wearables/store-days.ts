import { sql } from 'kysely'
import { type Db, prepared, runHot } from '../db/open.ts'

/** Which days: of one user, one resource and one source. */
export type Shelf = { team_id: string; user_id: string; resource: string; provider: string }
export type DayKey = { day: string; source_type: string }
export type DayRow = DayKey & { revision: number; sealed: Buffer }

const lockText = prepared(
  'lock_sample_days',
  `select d.day, d.source_type, d.revision, d.sealed
   from unnest($5::date[], $6::text[]) as wanted (day, source_type)
   join sample_days d on d.user_id = $2::uuid and d.resource = $3::text and d.day = wanted.day and d.provider = $4::text
     and d.source_type = wanted.source_type and d.team_id = $1::uuid
   order by d.day, d.source_type
   for update of d`,
)

/** The days that exist of those, held until the transaction ends; always in the same order, so that two writers never wait for each other. */
export const lockDays = (db: Db, shelf: Shelf, keys: DayKey[]) =>
  runHot<DayRow>(db, lockText, [...shelved(shelf), keys.map(({ day }) => day), keys.map(({ source_type }) => source_type)], 'writing')

const shelved = ({ team_id, user_id, resource, provider }: Shelf) => [team_id, user_id, resource, provider]

export type WrittenDay = DayRow & { samples: number }

/** What came in of a resource. */
export type State = { resource: string; oldest: string; newest: string; sent: number; at: string }
export type Event = { id: string; event_type: string; key: string; sealed: Buffer }

/**
 * Writes days, the state of their resource and the events about them in one round trip. Answers how many days were written, since a new
 * day that somebody else began meanwhile is left alone, and which webhooks are told.
 */
export async function writeBatch(db: Db, shelf: Shelf, days: WrittenDay[], state: State, events: Event[]) {
  const values = [
    ...shelved(shelf),
    days.map(({ day }) => day),
    days.map(({ source_type }) => source_type),
    days.map(({ samples }) => samples),
    days.map(({ revision }) => revision),
    days.map(({ sealed }) => sealed),
    ...[state.resource, state.oldest, state.newest, state.sent, state.at],
    ...events.flatMap(({ id, event_type, key, sealed }) => [id, event_type, key, sealed]),
  ]
  const rows = await runHot<{ written: number; told: string[] }>(db, batchText(events.length), values, 'writing')
  return rows[0] ?? { written: 0, told: [] }
}

const FIRST_EVENT = 15
const MOST_PREPARED = 8
const texts = new Map<number, string>()

/** By the number of events, of which each is a few values of its own: a list of what is sealed would be sent as text, twice as long. */
function batchText(events: number) {
  const known = texts.get(events)
  if (known) return known
  const rows = Array.from({ length: events }, (_, i) => {
    const at = FIRST_EVENT + 4 * i
    return `($${at}::uuid, $${at + 1}::text, $${at + 2}::text, $${at + 3}::bytea)`
  })
  const text = `with ${daysText}, ${stateText}, told as (${toldText(rows)})
    select (select count(*) from days) as written,
      (select coalesce(array_agg(distinct webhook), '{}') from told, unnest(told.webhooks) as webhook) as told`
  if (events > MOST_PREPARED) return text
  texts.set(events, prepared(`write_samples_${events}`, text))
  return text
}

const daysText = `days as (
  insert into sample_days as d (team_id, user_id, resource, provider, day, source_type, samples, revision, sealed)
  select $1::uuid, $2::uuid, $3::text, $4::text, t.*
  from unnest($5::date[], $6::text[], $7::integer[], $8::integer[], $9::bytea[]) as t (day, source_type, samples, revision, sealed)
  on conflict (user_id, resource, day, provider, source_type)
  do update set samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed
  where d.revision = excluded.revision - 1
  returning 1
)`

const stateText = `state as (
  insert into resource_states as s (team_id, user_id, provider, resource, oldest_data, newest_data, sent_count, last_attempt_at, last_status)
  values ($1::uuid, $2::uuid, $4::text, $10::text, $11::timestamptz, $12::timestamptz, $13::bigint, $14::timestamptz, 'success')
  on conflict (user_id, provider, resource) do update set
    oldest_data = least(s.oldest_data, excluded.oldest_data),
    newest_data = greatest(s.newest_data, excluded.newest_data),
    sent_count = s.sent_count + excluded.sent_count,
    last_attempt_at = excluded.last_attempt_at,
    last_status = excluded.last_status
)`

const toldText = (rows: string[]) =>
  rows.length
    ? `select emit(e.id, $1::uuid, $2::uuid, null, e.event_type, e.key, e.sealed, $14::timestamptz, false) as webhooks
       from (values ${rows.join(', ')}) as e (id, event_type, key, sealed)`
    : "select '{}'::uuid[] as webhooks"

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
