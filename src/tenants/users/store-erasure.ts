import { sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { latestTeamTime, teamTime } from '../../platform/db/due-work.ts'
import type { Db } from '../../platform/db/open.ts'

/** The grace period ends on the team's clock. */
const isErasable = (wall: string) => sql<boolean>`users.erase_at <= ${teamTime(wall)}`

/** Finds users of any team whose grace period has ended. */
export const searchErasable = (db: Db, wall: string) =>
  db
    .selectFrom('users')
    .innerJoin('teams', 'teams.id', 'users.team_id')
    .select('users.user_id')
    .where('users.erase_at', '<=', latestTeamTime(db.selectFrom('teams'), wall))
    .where(isErasable(wall))
    .orderBy('users.erase_at')
    .modifyEnd(anyTeam('teams with users to erase'))

/** Teams with users whose grace period has ended, of any team, the longest overdue first. */
export const findTeamsWithUsersToErase = (db: Db, wall: string, limit: number) =>
  db
    .selectFrom('users')
    .innerJoin('teams', 'teams.id', 'users.team_id')
    .select('users.team_id')
    .where(isErasable(wall))
    .groupBy('users.team_id')
    .orderBy((eb) => eb.fn.min('users.erase_at'))
    .limit(limit)
    .modifyEnd(anyTeam('teams with users to erase'))
    .execute()

/** Locks users of the team whose grace period has ended. Another process that erases the team's users waits. */
export const lockUsersToErase = (db: Db, team_id: string, wall: string, limit: number) =>
  db
    .selectFrom('users')
    .innerJoin('teams', 'teams.id', 'users.team_id')
    .select('users.user_id')
    .where('users.team_id', '=', team_id)
    .where(isErasable(wall))
    .orderBy('users.erase_at')
    .limit(limit)
    .forUpdate('users')
    .execute()

export const findNextErasure = (db: Db, team_id: string) =>
  db
    .selectFrom('users')
    .select('erase_at')
    .where('team_id', '=', team_id)
    .where('erase_at', 'is not', null)
    .orderBy('erase_at')
    .limit(1)
    .executeTakeFirst()

/** Cascades to the users' keys and rows, except for samples. Their orders must have been detached before. */
export const deleteLockedUsers = (db: Db, team_id: string, user_ids: string[]) =>
  db.deleteFrom('users').where('team_id', '=', team_id).where('user_id', '=', sql<string>`any(${user_ids}::uuid[])`).execute()

/** Deletes every user of the team with their keys and rows, except for samples, and returns the count. */
export const deleteUsersOf = async (db: Db, team_id: string) =>
  Number((await db.deleteFrom('users').where('team_id', '=', team_id).executeTakeFirst()).numDeletedRows)
