import { setTimeout as pause } from 'node:timers/promises'
import { changeDelivery } from '../../delivery/events/change-log.ts'
import { eraseAllUsersFromLog } from '../../delivery/events/erasure/actions.ts'
import { emptyInbox } from '../../delivery/webhooks/inbox.ts'
import { deleteOrdersOf } from '../../labs/orders/progress/actions.ts'
import { deleteOrphanedReports } from '../../labs/results/actions.ts'
import { releaseSharedTime } from '../../labs/schedule/actions.ts'
import { deleteReviewsOf } from '../../labs/unmatched/reviews.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { later, SECOND } from '../../platform/time.ts'
import { deleteOutcomesOf } from '../../tenants/idempotency/actions.ts'
import { lockTeamClock, setClockOffset } from '../../tenants/teams/clock.ts'
import { deleteUsersOf } from '../../tenants/users/actions.ts'
import { deleteOrphanedSamples } from '../../wearables/data/samples/erasure.ts'
import * as rules from './rules.ts'
import { timeline } from './timeline.ts'

export const getClock = async (app: App, { clock_offset_ms }: TeamCaller) => presentClock(app, clock_offset_ms)

export const moveClock = (app: App, { team_id }: TeamCaller, move: rules.Move) =>
  withLockedClock(app, team_id, (app, offset_ms) => advanceTo(app, team_id, rules.offsetAfter(app.wall(), offset_ms, move)))

export const resetClock = (app: App, { team_id }: TeamCaller) => withLockedClock(app, team_id, (app) => advanceTo(app, team_id, 0))

/** Permanently deletes all of the team's data. Its configuration stays. */
export const resetTeam = (app: App, caller: TeamCaller, confirmed_id: string) => {
  const { team_id } = caller
  rules.checkConfirmation(team_id, confirmed_id)
  return withLockedClock(app, team_id, async (app) => {
    const orders = await deleteOrdersOf(app, team_id)
    await releaseSharedTime(app, team_id)
    await deleteOrphanedReports(app, team_id)
    await deleteReviewsOf(app, team_id)
    await eraseAllUsersFromLog(app, team_id)
    const users = await deleteUsersOf(app, team_id)
    await deleteOrphanedSamples(app, team_id)
    await deleteOutcomesOf(app, team_id)
    // The owner of the log drops what it holds of the users.
    await changeDelivery(app, team_id, (app) => emptyInbox(app, caller))
    await setClockOffset(app, team_id, 0)
    return { team_id, users, orders }
  })
}

const MAX_WAIT_MS = 30 * SECOND

/** Moves of one team's clock run one after another. A waiting request holds no connection. */
async function withLockedClock<T>(app: App, team_id: string, work: (app: AppInTransaction, offset_ms: number) => Promise<T>): Promise<T> {
  const giveUpAt = later(app.wall(), MAX_WAIT_MS)
  for (;;) {
    try {
      return await inTransaction(app, async (app) => work(app, rules.requireLock(await lockTeamClock(app, team_id))))
    } catch (error) {
      if (!rules.isClockMoving(error) || app.wall() > giveUpAt) throw error
    }
    await pause(50)
  }
}

/** Moves the clock from one due time to the next, so that everything happens at its own time and in order. */
async function advanceTo(app: AppInTransaction, team_id: string, offset_ms: number) {
  for (;;) {
    const due = await findFirstDue(app, team_id)
    if (!due || due.at > later(app.wall(), offset_ms)) break
    await setClockOffset(app, team_id, Date.parse(due.at) - Date.parse(app.wall()))
    await due.run({ ...app, now: () => due.at }, team_id)
  }
  await setClockOffset(app, team_id, offset_ms)
  return presentClock(app, offset_ms)
}

async function findFirstDue(app: App, team_id: string) {
  const dues = await Promise.all(timeline.map(async (kind) => ({ at: await kind.nextDue(app, team_id), run: kind.run })))
  return dues
    .flatMap(({ at, run }) => (at ? [{ at, run }] : []))
    .sort((a, b) => a.at.localeCompare(b.at))
    .at(0)
}

const presentClock = (app: App, offset_ms: number) => ({ now: later(app.wall(), offset_ms), offset_seconds: offset_ms / 1000 })
