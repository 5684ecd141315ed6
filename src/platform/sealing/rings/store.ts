import { sql, type Updateable } from 'kysely'
import { anyTeam } from '../../db/any-team.ts'
import type { Db } from '../../db/open.ts'
import type { Tables } from '../../db/tables.ts'

/** A key of a team, or of a user. */
export type KeyRow = { team_id: string; id: string; user_id: string | null; wrapped: Buffer }

type Phase = 'prepared' | 'active' | 'resealed'

/** The keys of a rotation: of one user, of all users of a team, or of the team. */
export type KeyScope = { team_id: string; of: 'team' | 'users' | { user_id: string } }

const columns = ['team_id', 'id', 'user_id', 'wrapped'] as const

const keysIn = (db: Db, { team_id, of }: KeyScope) =>
  db
    .selectFrom('sealing_keys')
    .where('team_id', '=', team_id)
    .$if(of === 'team', (query) => query.where('user_id', 'is', null))
    .$if(of === 'users', (query) => query.where('user_id', 'is not', null))
    .$if(typeof of === 'object', (query) => query.where('user_id', '=', (of as { user_id: string }).user_id))

/** Whether a rotation of these keys was interrupted. */
export const hasUnfinished = async (db: Db, scope: KeyScope) =>
  (await keysIn(db, scope).select('id').where('phase', 'in', ['prepared', 'active']).limit(1).executeTakeFirst()) !== undefined

/** The keys whose rotation can begin, in the order of their IDs. An interrupted rotation leaves out those that it has replaced. */
export const listToPrepare = (db: Db, scope: KeyScope, { isUnfinished, began, after, limit }: Preparation) =>
  keysIn(db, scope)
    .select(columns)
    .where((eb) =>
      eb.or([
        eb('phase', 'is', null),
        ...(isUnfinished ? [] : [eb.and([eb('phase', '=', 'resealed'), eb('phase_at', '<', sql<string>`${began}::timestamptz`)])]),
      ]),
    )
    .$if(after !== undefined, (query) => query.where('id', '>', after as string))
    .orderBy('id')
    .limit(limit)
    .execute()

type Preparation = { isUnfinished: boolean; began: string; after: string | undefined; limit: number }

/** The time on the clock that `phase_at` has. */
export const databaseTime = async (db: Db) => (await sql<{ at: string }>`select now()::text as at`.execute(db)).rows[0]?.at as string

export const findTeamOfUser = (db: Db, user_id: string) =>
  db.selectFrom('sealing_keys').select('team_id').where('user_id', '=', user_id).modifyEnd(anyTeam('the team of a user')).executeTakeFirst()

/** Keys of a team in a phase that began before the interval. */
export const listInPhase = (db: Db, { team_id }: { team_id: string }, phase: Phase, seconds: number, limit: number) =>
  db
    .selectFrom('sealing_keys')
    .select(columns)
    .where('team_id', '=', team_id)
    .where('phase', '=', phase)
    .where('phase_at', '<=', sql<string>`now() - make_interval(secs => ${seconds})`)
    .orderBy('phase_at')
    .limit(limit)
    .execute()

export const countInPhases = (db: Db, scope: KeyScope, phases: Phase[]) =>
  keysIn(db, scope)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('phase', 'in', phases)
    .executeTakeFirstOrThrow()

/** Teams with keys that are being replaced. */
export const listRotatingTeams = (db: Db) =>
  db
    .selectFrom('sealing_keys')
    .select('team_id')
    .distinct()
    .where('phase', 'is not', null)
    .modifyEnd(anyTeam('teams with keys to rotate'))
    .execute()

type Change = Pick<Updateable<Tables['sealing_keys']>, 'id' | 'wrapped' | 'phase'>

/** Returns undefined if another process changed the key meanwhile, or it was erased. */
export const changeKey = (db: Db, before: KeyRow, change: Change) =>
  db
    .updateTable('sealing_keys')
    .set({ ...change, phase_at: sql<string>`now()` })
    .where('team_id', '=', before.team_id)
    .where('id', '=', before.id)
    .where('wrapped', '=', before.wrapped)
    .returning('id')
    .executeTakeFirst()
