import { type App, inTransaction, later, type TeamCaller } from '../app.ts'
import { Problem, problem } from '../problem.ts'
import * as store from './store.ts'
import { timeline } from './timeline.ts'

type Move = { advance_seconds?: number | undefined; now?: string | undefined }

export const getClock = async (app: App, { clock_offset_ms }: TeamCaller) => reading(app, clock_offset_ms)

export const moveClock = (app: App, { team_id }: TeamCaller, move: Move) =>
  inTransaction(app, async (app) => {
    const { clock_offset_ms } = await store.lockClock(app.db, team_id)
    return travel(app, team_id, offsetAfter(app.wall(), clock_offset_ms, move))
  })

export const resetClock = (app: App, { team_id }: TeamCaller) =>
  inTransaction(app, async (app) => {
    await store.lockClock(app.db, team_id)
    return travel(app, team_id, 0)
  })

const LAST = '3000-01-01T00:00:00.000Z'

function offsetAfter(wall: string, offset_ms: number, { advance_seconds, now }: Move) {
  if ((advance_seconds === undefined) === (now === undefined)) throw invalid('Send either advance_seconds or now, and not both.')
  const offset =
    advance_seconds === undefined ? Date.parse(now as string) - Date.parse(wall) : offset_ms + Math.round(advance_seconds * 1000)
  if (offset < offset_ms)
    throw problem('CLOCK_MOVES_FORWARD', 'The clock only moves forward; POST /sandbox/clock/reset sets it back to real time.')
  if (later(wall, offset) >= LAST) throw invalid('The clock ends with the year 2999.')
  return offset
}

const invalid = (msg: string) => new Problem('invalid', [{ type: 'value_error', loc: ['body'], msg }])

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
