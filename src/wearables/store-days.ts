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

/** Writes the days and answers how many it were: a new day that somebody else began meanwhile is left alone. */
export async function writeDays(db: Db, { team_id, user_id, resource, provider }: Shelf, days: WrittenDay[]) {
  const { rows } = await sql`
    insert into sample_days as d (user_id, team_id, resource, day, provider, source_type, samples, revision, sealed)
    select ${user_id}, ${team_id}, ${resource}, t.day, ${provider}, t.source_type, t.samples, t.revision, t.sealed
    from unnest(
      ${days.map(({ day }) => day)}::date[],
      ${days.map(({ source_type }) => source_type)}::text[],
      ${days.map(({ samples }) => samples)}::integer[],
      ${days.map(({ revision }) => revision)}::integer[],
      ${days.map(({ sealed }) => sealed)}::bytea[]
    ) as t (day, source_type, samples, revision, sealed)
    on conflict (user_id, resource, day, provider, source_type)
    do update set samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed
    where d.revision = excluded.revision - 1
    returning 1`.execute(db)
  return rows.length
}

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
