import { sql } from 'kysely'
import { type Db, prepareStatement, run } from '../../../platform/db/open.ts'

/** The days of one user, resource and source. */
export type SeriesScope = { team_id: string; user_id: string; resource: string; provider: string }
export type DayKey = { day: string; source_type: string }
export type DayRow = DayKey & { revision: number; sealed: Buffer }

const daysOf = `select d.day, d.source_type, d.revision, d.sealed
   from unnest($5::date[], $6::text[]) as requested (day, source_type)
   join sample_days d on d.team_id = $1::uuid and d.user_id = $2::uuid and d.resource = $3::text and d.day = requested.day
     and d.provider = $4::text and d.source_type = requested.source_type`

const findLive = prepareStatement('find_sample_days', daysOf, { hot: 'read' })
const findMany = { ...findLive, hot: undefined }
const lock = prepareStatement('lock_sample_days', `${daysOf} order by d.day, d.source_type for update of d`)

const dayValues = (scope: SeriesScope, keys: DayKey[]) => [
  ...scopeValues(scope),
  keys.map(({ day }) => day),
  keys.map(({ source_type }) => source_type),
]

/** The number of days of a typical live push. Larger reads would delay others on a pipelined connection. */
export const MAX_PIPELINED_DAYS = 4

export const findDays = (db: Db, scope: SeriesScope, keys: DayKey[]) =>
  run<DayRow>(db, keys.length <= MAX_PIPELINED_DAYS ? findLive : findMany, dayValues(scope, keys))

/** Locks the days in one order, so that two writers never deadlock. */
export const lockDays = (db: Db, scope: SeriesScope, keys: DayKey[]) => run<DayRow>(db, lock, dayValues(scope, keys))

const scopeValues = ({ team_id, user_id, resource, provider }: SeriesScope) => [team_id, user_id, resource, provider]

export type Window = {
  team_id: string
  user_id: string
  resource: string
  provider: string | undefined
  from: string
  to: string
  /** The position to continue from. `isDone` excludes this day. */
  after?: { day: string; provider: string; source_type: string } | undefined
  isDone?: boolean
}
export type StoredDay = { day: string; provider: string; source_type: string; samples: number; sealed: Buffer }

const firstDays = prepareStatement(
  'read_sample_days',
  `select day, provider, source_type, samples, sealed from (
     select day, provider, source_type, samples, sealed, sum(samples) over (order by day, provider, source_type) - samples as before
     from sample_days
     where team_id = $1::uuid and user_id = $2::uuid and resource = $3::text and day between $4::date and $5::date
   ) d
   where before < $6::bigint
   order by day, provider, source_type`,
)

/** Reads days in order until they contain `samples` samples. */
export async function readDays(db: Db, { team_id, user_id, resource, provider, from, to, after, isDone }: Window, samples: number) {
  if (!provider && !after) return run<StoredDay>(db, firstDays, [team_id, user_id, resource, from, to, samples])
  const { rows } = await sql<StoredDay>`
    select day, provider, source_type, samples, sealed from (
      select day, provider, source_type, samples, sealed, sum(samples) over (order by day, provider, source_type) - samples as before
      from sample_days
      where team_id = ${team_id} and user_id = ${user_id} and resource = ${resource} and day between ${from} and ${to}
        ${provider ? sql`and provider = ${provider}` : sql``}
        ${after ? sql`and (day, provider, source_type) ${sql.raw(isDone ? '>' : '>=')} (${after.day}::date, ${after.provider}, ${after.source_type})` : sql``}
    ) d
    where before < ${samples}
    order by day, provider, source_type`.execute(db)
  return rows
}

export type Days = { from: string; to: string }

/** The days of several resources within a range, of every source type. */
export async function findDaysBetween(
  db: Db,
  { team_id, user_id, provider }: Omit<SeriesScope, 'resource'>,
  resources: string[],
  { from, to }: Days,
) {
  const { rows } = await sql<DayRow & { resource: string }>`
    select resource, day, source_type, revision, sealed from sample_days
    where team_id = ${team_id} and user_id = ${user_id} and resource = any(${resources}::text[]) and provider = ${provider}
      and day between ${from} and ${to}`.execute(db)
  return rows
}

/** Locks the days of every source type within a range. */
export async function lockDaysBetween(db: Db, { team_id, user_id, resource, provider }: SeriesScope, { from, to }: Days) {
  const { rows } = await sql<DayRow>`
    select day, source_type, revision, sealed from sample_days
    where team_id = ${team_id} and user_id = ${user_id} and resource = ${resource} and provider = ${provider} and day between ${from} and ${to}
    order by day, source_type for update`.execute(db)
  return rows
}

export const updateDay = (
  db: Db,
  { team_id, user_id, resource, provider }: SeriesScope,
  { day, source_type, samples, revision, sealed }: DayRow & { samples: number },
) =>
  db
    .updateTable('sample_days')
    .set({ samples, revision, sealed })
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('resource', '=', resource)
    .where('provider', '=', provider)
    .where('source_type', '=', source_type)
    .where(sql<boolean>`day = ${day}`)
    .execute()

export const deleteDaysOf = (db: Db, team_id: string, user_ids: string[]) =>
  db.deleteFrom('sample_days').where('team_id', '=', team_id).where('user_id', '=', sql<string>`any(${user_ids}::uuid[])`).execute()

/** Deletes the days of users who no longer exist. */
export const deleteOrphanedDays = (db: Db, team_id: string) =>
  sql`
    delete from sample_days d where d.team_id = ${team_id}
      and not exists (select from users u where u.team_id = ${team_id} and u.user_id = d.user_id)`.execute(db)
