import type { App, AppInTransaction } from '../../../platform/app.ts'
import { later, MINUTE } from '../../../platform/time.ts'
import * as store from './store.ts'

export { searchErasures as searchLogErasures } from './store.ts'

/** Transactions that began before the first pass have ended after this long, except for stuck ones. */
const SECOND_PASS_MS = 3 * MINUTE
const RETRY_MS = MINUTE
const TEAMS = 100
const IDS = 500

/** Plans that users are erased from the log, in the transaction that deletes their keys. */
export const eraseUsersFromLog = (app: AppInTransaction, team_id: string, user_ids: string[]) =>
  store.insertErasures(app.db, team_id, user_ids, app.wall())

/** Plans that all users of a team are erased from the log. */
export const eraseAllUsersFromLog = (app: AppInTransaction, team_id: string) => store.insertErasuresOfUsers(app.db, team_id, app.wall())

/** Plans that the log of a deleted team is deleted. */
export async function eraseTeamFromLog(app: AppInTransaction, team_id: string) {
  await store.deleteErasures(app.db, team_id)
  await store.insertErasures(app.db, team_id, [team_id], app.wall())
}

/** When to ask again whether the log has nothing of a user, or undefined if it has nothing. */
export async function findLogErasure({ db, wall }: App, team_id: string, user_id: string) {
  const erasure = await store.findErasure(db, team_id, user_id)
  if (!erasure) return undefined
  const at = erasure.first_xid === null ? later(wall(), SECOND_PASS_MS) : erasure.due_at
  return at > wall() ? at : later(wall(), RETRY_MS)
}

type Erase = { users(app: App, team_id: string, user_ids: string[]): Promise<void>; team(app: App, team_id: string): Promise<void> }

/** Runs the due passes over logs. Returns whether there may be more. */
export async function runLogErasures(app: App, erase: Erase) {
  const teams = await store.listDueTeams(app.db, app.wall(), TEAMS)
  let isMore = teams.length === TEAMS
  for (const { team_id } of teams) {
    const due = await store.listDue(app.db, team_id, app.wall(), IDS)
    isMore ||= due.length === IDS
    await runPasses(app, team_id, due, erase)
  }
  return isMore
}

type Due = Awaited<ReturnType<typeof store.listDue>>

async function runPasses(app: App, team_id: string, due: Due, erase: Erase) {
  const { oldest, upcoming } = await store.transactionsOf(app.db, team_id)
  // The numbers of another server, to which the team has moved, say nothing. None of its transactions is as old.
  const isBlocked = (first_xid: number) => first_xid >= oldest && first_xid < upcoming
  const idsOf = (rows: Due) => rows.map(({ id }) => id)
  const first = idsOf(due.filter(({ first_xid }) => first_xid === null))
  const blocked = idsOf(due.filter(({ first_xid }) => first_xid !== null && isBlocked(first_xid)))
  const second = idsOf(due.filter(({ first_xid }) => first_xid !== null && !isBlocked(first_xid)))
  if (blocked.length) await store.planPass(app.db, team_id, blocked, { due_at: later(app.wall(), RETRY_MS) })
  const ids = [...first, ...second]
  if (ids.includes(team_id)) await erase.team(app, team_id)
  else if (ids.length) await erase.users(app, team_id, ids)
  if (second.length) await store.deleteErasures(app.db, team_id, second)
  if (!first.length) return
  const { own } = await store.transactionsOf(app.db, team_id)
  await store.planPass(app.db, team_id, first, { due_at: later(app.wall(), SECOND_PASS_MS), first_xid: own })
}

/** Empties a batch of events of users, and returns how many. The log is locked. */
export async function emptyEvents({ db }: AppInTransaction, team_id: string, user_ids: string[], limit: number) {
  const positions = await store.listPositionsOfUsers(db, team_id, user_ids, limit)
  if (positions.length) await store.emptyEvents(db, team_id, positions)
  return positions.length
}

/** Deletes a batch of events of users that are not moved yet, and returns how many. The log is locked. */
export const deleteUnmoved = ({ db }: AppInTransaction, team_id: string, user_ids: string[], limit: number) =>
  store.deleteFromOutbox(db, team_id, user_ids, limit)

/** Deletes a batch of rows of a team that is gone, and returns how many. */
export async function deleteEventsOfTeam({ db }: AppInTransaction, team_id: string, limit: number) {
  const deleted = await store.deleteFromOutbox(db, team_id, null, limit)
  return Math.max(deleted, await store.deleteEvents(db, team_id, limit))
}
