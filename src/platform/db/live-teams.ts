import { sql } from 'kysely'

/** The rows that bind `id` to those of the teams that are live and belong to the organization. */
export const liveTeams = (org_id: string, id: string, team_ids: string[]) =>
  sql`select ${id}::uuid, id from teams where org_id = ${org_id} and deleted_at is null and id = any(${team_ids}::uuid[])`
