import { sql } from 'kysely'

/** Rows that bind `id` to each of the given teams that is live and in the organization. */
export const liveTeams = (org_id: string, id: string, team_ids: string[]) =>
  sql`select ${id}::uuid, id from teams where org_id = ${org_id} and deleted_at is null and id = any(${team_ids}::uuid[])`

/**
 * Whether the key or person that created a token still has access to the team and may create one. A key that was rotated
 * counts as live while its successor is. `column` holds the creator's ID.
 */
export const hasLiveCreator = (team_id: string, column: string, now: string) => sql<boolean>`(
  exists (select from team_api_keys k where k.team_id = ${team_id}
    and k.id in (${sql.ref(column)}, (select old.successor_id from team_api_keys old where old.team_id = ${team_id} and old.id = ${sql.ref(column)}))
    and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now}::timestamptz))
  or exists (select from management_keys k
    where k.id in (${sql.ref(column)}, (select old.successor_id from management_keys old where old.id = ${sql.ref(column)}))
    and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now}::timestamptz)
    and (k.role = 'org_admin' or exists (select from management_key_teams bound where bound.key_id = k.id and bound.team_id = ${team_id})))
  or exists (select from people p where p.id = ${sql.ref(column)} and p.role in ('org_admin', 'team_admin')
    and (p.every_team or exists (select from person_teams bound where bound.person_id = p.id and bound.team_id = ${team_id}))))`
