import { sql } from 'kysely'

/** Rows that bind `id` to each of the given teams that is live and in the organization. */
export const liveTeams = (org_id: string, id: string, team_ids: string[]) =>
  sql`select ${id}::uuid, id from teams where org_id = ${org_id} and deleted_at is null and id = any(${team_ids}::uuid[])`
