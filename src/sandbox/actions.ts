import { type App, inTransaction, later, type TeamCaller } from '../app.ts'
import { Problem, problem } from '../problem.ts'
import * as store from './store.ts'
import { timeline } from './timeline.ts'

type Move = { advance_seconds?: number | undefined; now?: string | undefined }

export const getClock = async (app: App, { clock_offset_ms }: TeamCaller) => reading(app, clock_offset_ms)

/** Moves the clock from one due moment to the next, so that everything happens at its own time and in order. */
export const moveClock = (app: App, { team_id }: TeamCaller, move: Move) =>
  inTransaction(app, async (app) => {
    const { clock_offset_ms } = await store.clockOffset(app.db, team_id)
    const target = targetOf(later(app.wall(), clock_offset_ms), move)
    for (;;) {
      const due = await firstDue(app, team_id)
      if (!due || due.at > target) break
      await setNow(app, team_id, due.at)
      await due.happen({ ...app, now: () => due.at }, team_id)
    }
    return reading(app, await setNow(app, team_id, target))
  })

export const resetClock = (app: App, { team_id }: TeamCaller) =>
  inTransaction(app, async (app) => {
    await store.setClockOffset(app.db, team_id, 0)
    return reading(app, 0)
  })

function targetOf(now: string, { advance_seconds, now: wanted }: Move) {
  if ((advance_seconds === undefined) === (wanted === undefined))
    throw new Problem('invalid', [{ type: 'value_error', loc: ['body'], msg: 'Send either advance_seconds or now, and not both.' }])
  if (advance_seconds !== undefined) return later(now, Math.round(advance_seconds * 1000))
  const target = new Date(wanted as string).toISOString()
  if (target < now)
    throw problem('refused', 'CLOCK_MOVES_FORWARD', 'The clock only moves forward; POST /sandbox/clock/reset sets it back to real time.')
  return target
}

async function firstDue(app: App, team_id: string) {
  const dues = await Promise.all(timeline.map(async (kind) => ({ at: await kind.nextDue(app, team_id), happen: kind.happen })))
  return dues
    .flatMap(({ at, happen }) => (at ? [{ at, happen }] : []))
    .sort((a, b) => a.at.localeCompare(b.at))
    .at(0)
}

async function setNow(app: App, team_id: string, now: string) {
  const offset = Date.parse(now) - Date.parse(app.wall())
  await store.setClockOffset(app.db, team_id, offset)
  return offset
}

const reading = (app: App, offset_ms: number) => ({ now: later(app.wall(), offset_ms), offset_seconds: offset_ms / 1000 })
