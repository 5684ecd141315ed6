import { setTimeout as pause } from 'node:timers/promises'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { later, SECOND } from '../../platform/time.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import { timeline } from './timeline.ts'

export const getClock = async (app: App, { clock_offset_ms }: TeamCaller) => reading(app, clock_offset_ms)

export const moveClock = (app: App, { team_id }: TeamCaller, move: rules.Move) =>
  journey(app, team_id, (app, offset_ms) => travel(app, team_id, rules.offsetAfter(app.wall(), offset_ms, move)))

export const resetClock = (app: App, { team_id }: TeamCaller) => journey(app, team_id, (app) => travel(app, team_id, 0))

/** Everything that came in goes, for good; what was configured stays. */
export const resetTeam = (app: App, { team_id }: TeamCaller, named: string) => {
  rules.checkNamed(team_id, named)
  return journey(app, team_id, async (app) => {
    const orders = await store.deleteOrders(app.db, team_id)
    const users = await store.deleteUsers(app.db, team_id)
    await store.deleteKeptOutcomes(app.db, team_id)
    await store.deleteInbox(app.db, team_id)
    await store.setClockOffset(app.db, team_id, 0)
    return { team_id, users, orders }
  })
}

const PATIENCE = 30 * SECOND

/** Journeys of one team come one after the other. Whoever waits holds no connection meanwhile. */
async function journey<T>(app: App, team_id: string, work: (app: App, offset_ms: number) => Promise<T>): Promise<T> {
  const giveUpAt = later(app.wall(), PATIENCE)
  for (;;) {
    try {
      return await inTransaction(app, async (app) => work(app, rules.mine(await store.lockClock(app.db, team_id))))
    } catch (error) {
      if (!rules.isMoving(error) || app.wall() > giveUpAt) throw error
    }
    await pause(50)
  }
}

/** Moves the clock from one due moment to the next, so that everything happens at its own time and in order. */
async function travel(app: App, team_id: string, offset_ms: number) {
  for (;;) {
    const due = await firstDue(app, team_id)
    if (!due || due.at > later(app.wall(), offset_ms)) break
    await store.setClockOffset(app.db, team_id, Date.parse(due.at) - Date.parse(app.wall()))
    await due.happen({ ...app, now: () => due.at }, team_id)
  }
  await store.setClockOffset(app.db, team_id, offset_ms)
  return reading(app, offset_ms)
}

async function firstDue(app: App, team_id: string) {
  const dues = await Promise.all(timeline.map(async (kind) => ({ at: await kind.nextDue(app, team_id), happen: kind.happen })))
  return dues
    .flatMap(({ at, happen }) => (at ? [{ at, happen }] : []))
    .sort((a, b) => a.at.localeCompare(b.at))
    .at(0)
}

const reading = (app: App, offset_ms: number) => ({ now: later(app.wall(), offset_ms), offset_seconds: offset_ms / 1000 })
