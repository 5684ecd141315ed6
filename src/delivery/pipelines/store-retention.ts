import { sql } from 'kysely'
import type { Position } from '../../contract/delivery/log-rows.ts'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'

/** Teams with a destination that needs an event from before a time. */
export async function listTeamsBehind(db: Db, before: string) {
  const { rows } = await sql<{ team_id: string }>`
    select distinct ${anyTeam('teams with expired events')} d.team_id from pipeline_destinations d join event_logs l on l.team_id = d.team_id
    where d.after_at < ${before} and d.after_no < l.last_no
      and exists (select from events e where e.team_id = d.team_id and e.no > d.after_no and e.logged_at < ${before})`.execute(db)
  return rows.map(({ team_id }) => team_id)
}

/** Moves destinations past what has expired, and returns how many. Their new terms end the rights of their owner. */
export async function moveDestinations(db: Db, team_id: string, { no, at }: Position) {
  const { numUpdatedRows } = await db
    .updateTable('pipeline_destinations')
    .set((eb) => ({ after_no: no, after_at: at, term: eb('term', '+', 1) }))
    .where('team_id', '=', team_id)
    .where('after_no', '<', no)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
