import { type SelectQueryBuilder, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Rows that bind `id` to each of the given teams that is live and in the organization. */
export const liveTeams = (teams: SelectQueryBuilder<Tables, 'teams', {}>, org_id: string, id: string, team_ids: string[]) =>
  teams
    .select([sql<string>`${id}::uuid`.as('bound_id'), 'teams.id'])
    .where('teams.org_id', '=', org_id)
    .where('teams.deleted_at', 'is', null)
    .where('teams.id', '=', sql<string>`any(${team_ids}::uuid[])`)
