import { setTimeout as pause } from 'node:timers/promises'
import { type App, SECOND } from '../app.ts'
import { logAfter } from '../events/log.ts'
import { Problem } from '../problem.ts'
import { type Outlet, openOutlet, type Reach } from './outlet.ts'
import { publishAll } from './publish.ts'
import { patternsOf } from './rules.ts'
import { type Failure, failureOf, retryAt } from './rules-failure.ts'
import { openDestination } from './sealed.ts'
import * as store from './store-holding.ts'
import { brokerOf } from './uri.ts'

/** How many events are on their way before the place is recorded, and may come twice when we are killed. */
const PAGE = 100
const RECORD_TRIES = 50
const RECORD_AFTER = SECOND / 5

/** Measures what came of publishing. */
export type Noted = (what: { published: number } | { failure: Failure }) => void

export type Desk = { app: App; holder: string; reach: Reach; noted: Noted; ends: AbortSignal }

/** One pipeline in hand; `place` is how far it came. */
export type Runner = {
  revision: number
  place: number
  outlet?: Outlet | undefined
  running?: Promise<void> | undefined
  /** Somebody changed, paused or deleted the pipeline, or we stop. */
  isOver: boolean
}

/** Publishes what waits. What goes wrong with the broker is noted on the pipeline; what goes wrong with the database is thrown. */
export async function publishWaiting(desk: Desk, runner: Runner, row: store.Held) {
  const { app, holder, noted } = desk
  const { team_id, revision } = row
  const setback = await pump(desk, runner, row)
  if (!setback) return
  await closeOutlet(runner)
  if (runner.isOver) return
  noted({ failure: setback.failure })
  app.log.warn({ team_id, failure: setback.failure }, 'a pipeline cannot publish')
  const at = app.wall()
  const retry_at = retryAt(setback.failures, at, Math.random())
  await store.setBack(app.db, { team_id, holder, revision, error: setback.failure, at, retry_at })
}

/** Page after page until the end of the log, or until the broker refuses. */
async function pump(desk: Desk, runner: Runner, row: store.Held): Promise<{ failure: Failure; failures: number } | undefined> {
  const { app, holder, noted } = desk
  const { team_id, event_type_prefixes } = row
  let { failures } = row
  while (!runner.isOver) {
    const { logged, place } = await logAfter(app, team_id, {
      after: runner.place,
      // After a failure one event goes ahead alone, so that those behind it do not come again with every try.
      limit: failures ? 1 : PAGE,
      event_type: patternsOf(event_type_prefixes),
      told: true,
    })
    if (place === runner.place) return
    const { confirmed, error } = logged.length ? await send(desk, runner, row, logged) : { confirmed: 0 }
    if (confirmed) {
      failures = 0
      noted({ published: confirmed })
    }
    const from = runner.place
    runner.place = error ? (logged[confirmed - 1]?.place ?? from) : place
    const isOurs = await record(runner, () =>
      store.advance(app.db, { team_id, holder, from, place: runner.place, delivered: confirmed, at: app.wall() }),
    )
    if (!isOurs) runner.isOver = true
    else if (error) return { failure: failureOf(error), failures: failures + 1 }
  }
}

/** What was confirmed must not be published once more for want of a note, so a note that fails is made again. */
async function record(runner: Runner, note: () => Promise<boolean>, tries = 1): Promise<boolean> {
  try {
    return await note()
  } catch (error) {
    if (runner.isOver || tries === RECORD_TRIES) throw error
    await pause(RECORD_AFTER)
    return record(runner, note, tries + 1)
  }
}

async function send(desk: Desk, runner: Runner, row: store.Held, logged: Parameters<typeof publishAll>[1]) {
  try {
    if (!runner.outlet?.isOpen()) runner.outlet = await openFor(desk, row)
  } catch (error) {
    return { confirmed: 0, error: error as { code?: unknown } }
  }
  const { confirmed, error } = await publishAll(runner.outlet, logged)
  return { confirmed, error: error as { code?: unknown } | undefined }
}

async function openFor({ app, reach, ends }: Desk, row: store.Held) {
  const { uri, exchange } = await openDestination(app, row)
  return openOutlet(brokerAllowed(uri, reach), exchange, reach, ends)
}

/** What may be reached may have become less since the URI was taken. */
function brokerAllowed(uri: string, { policy }: Reach) {
  try {
    return brokerOf(uri, policy)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { reason } = error.detail as { reason?: string }
    throw Object.assign(new Error(), { code: (reason === 'address' ? 'forbidden_address' : 'uri_refused') satisfies Failure })
  }
}

export async function closeOutlet(runner: Runner) {
  const { outlet } = runner
  runner.outlet = undefined
  await outlet?.close()
}
