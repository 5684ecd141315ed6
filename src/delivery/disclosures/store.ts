import { sql } from 'kysely'
import type { DisclosureCount, DisclosureGroup } from '../../contract/delivery/log-rows.ts'
import { pruning } from '../../platform/db/any-team.ts'
import { type Db, prepareStatement, run } from '../../platform/db/open.ts'

const countStatement = prepareStatement('count_disclosures', 'select count_disclosures($1, $2)')

export const countDisclosures = (db: Db, team_id: string, counts: DisclosureCount[]) =>
  run(db, countStatement, [team_id, JSON.stringify(counts)])

type Period = { from: string; to: string; after: DisclosureGroup | undefined; limit: number }

type Group = DisclosureGroup & { alike: { fields: string[]; count: number }[] }

/** Disclosures of a team by day, destination and event type, from one day to another. */
export async function listDisclosures(db: Db, team_id: string, { from, to, after, limit }: Period) {
  const { rows } = await sql<Group>`
    select day, destination, receiver, event_type, json_agg(json_build_object('fields', fields, 'count', count)) as alike
    from disclosures
    where team_id = ${team_id} and day between ${from} and ${to}
      ${after ? sql`and (day, destination, receiver, event_type) > (${after.day}::date, ${after.destination}, ${after.receiver}, ${after.event_type})` : sql``}
    group by day, destination, receiver, event_type order by day, destination, receiver, event_type limit ${limit}`.execute(db)
  return rows
}

/** When the database began to count. */
export async function findStart(db: Db, migration: string) {
  const { rows } = await sql<{ ran_at: string }>`select ran_at from migrations where name = ${migration}`.execute(db)
  return rows[0]?.ran_at
}

/** Deletes disclosures of any team from before a day. */
export const pruneDisclosures = (db: Db, before: string) =>
  sql`delete from disclosures where day < ${before} ${pruning('old disclosures')}`.execute(db)
