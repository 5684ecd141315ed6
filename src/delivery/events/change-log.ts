import { setTimeout as pause } from 'node:timers/promises'
import { BEGINNING, type Position } from '../../contract/delivery/log-rows.ts'
import { type App, type AppInTransaction, inTransaction, withoutRequestRows } from '../../platform/app.ts'
import { isLockTimeout } from '../../platform/db/errors.ts'
import { problem } from '../../platform/problem.ts'
import { SECOND } from '../../platform/time.ts'
import * as store from './store-log.ts'

const MOVE_LIMIT = 1000
const TIMEOUT_MS = 2 * SECOND
const LOCKED_RETRY_MS = 5

/** Ends a transaction that would have to move too many events. */
const tooMany = new Error('More events are pending than a transaction moves.')

/**
 * Runs a change whose position in the log matters, such as that of a filter: events committed before it are at or before `end`, and
 * later ones after it. The change holds the lock of the log, and then the owner of the team is notified.
 */
export const changeAtEnd = <T>(app: App, team_id: string, change: (app: AppInTransaction, end: Position) => Promise<T>) =>
  changeAtEnds(app, [team_id], (app, endOf) => change(app, endOf(team_id)))

/** Runs a change of several teams, each at the end of its log. */
export async function changeAtEnds<T>(
  app: App,
  team_ids: string[],
  change: (app: AppInTransaction, endOf: (team_id: string) => Position) => Promise<T>,
) {
  // Sorted by ID, so that two changes never deadlock.
  const sorted = [...new Set(team_ids)].sort()
  for (const giveUpAt = performance.now() + TIMEOUT_MS; performance.now() < giveUpAt; )
    try {
      return await inTransaction(app, async (app) => {
        const ends = new Map<string, Position>()
        for (const team_id of sorted) ends.set(team_id, await moveToEnd(app, team_id))
        return change(app, (team_id) => ends.get(team_id) as Position)
      })
    } catch (error) {
      if (error === tooMany) for (const team_id of sorted) await moveSome(app, team_id).catch(ignoreLock)
      else await ignoreLock(error)
    }
  throw problem('LOG_BUSY', 'The team writes more events than this change can wait for. Send it again.')
}

async function moveToEnd(app: AppInTransaction, team_id: string) {
  const end = await moveAll(app, team_id)
  await store.noteChange(app.db, team_id)
  app.wake('team log', team_id)
  return end
}

async function moveAll(app: AppInTransaction, team_id: string): Promise<Position> {
  const moved = await move(app, team_id)
  if (moved?.events.length === MOVE_LIMIT) throw tooMany
  return moved?.end ?? { no: 0, at: BEGINNING }
}

const move = ({ db }: App, team_id: string) => store.moveEvents(db, team_id, { worker: null, live: [], fromSeq: 0, limit: MOVE_LIMIT })

const moveSome = (app: App, team_id: string) => inTransaction(withoutRequestRows(app), (app) => move(app, team_id))

async function ignoreLock(error: unknown) {
  if (!isLockTimeout(error)) throw error
  await pause(LOCKED_RETRY_MS)
}

/** Runs a change of what the owner of a team delivers, at any position. It holds the lock of the log. */
export const changeDelivery = <T>(app: App, team_id: string, change: (app: AppInTransaction) => Promise<T>) =>
  inTransaction(app, async (app) => {
    await store.noteChange(app.db, team_id)
    app.wake('team log', team_id)
    return change(app)
  })
