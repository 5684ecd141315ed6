import { setTimeout as pause } from 'node:timers/promises'
import type { SupportedDestination } from '../../../contract/delivery/pipelines.ts'
import type { App } from '../../../platform/app.ts'
import { SECOND } from '../../../platform/time.ts'
import { logAfter } from '../../events/log.ts'
import type { Destination, OutboundOptions } from '../destinations/destination.ts'
import { openDestination } from '../destinations/open-destination.ts'
import { patternsOf } from '../rules.ts'
import { type Failure, failureOf, retryAt } from '../rules-failure.ts'
import { publishAll } from './publish.ts'
import * as store from './store-holding.ts'

/** How many events are on their way before the place is recorded, and may come twice when we are killed. */
const PAGE = 100
const RECORD_TRIES = 50
const RECORD_AFTER = SECOND / 5

/** Measures what came of publishing. */
export type Noted = (destination: SupportedDestination, what: { published: number } | { failure: Failure }) => void

export type PublisherContext = { app: App; holder: string; reach: OutboundOptions; noted: Noted; ends: AbortSignal }

/** One destination in hand; `place` is how far it came. */
export type Runner = {
  revision: number
  place: number
  outlet?: Destination | undefined
  running?: Promise<void> | undefined
  /** Somebody changed, paused or deleted the pipeline, or we stop. */
  isOver: boolean
  ended?: Promise<void> | undefined
}

/** Publishes what waits. What goes wrong on the other side is noted on the destination; what goes wrong with the database is thrown. */
export async function publishPending(desk: PublisherContext, runner: Runner, row: store.Held) {
  const { app, holder, noted } = desk
  const { team_id, destination } = row
  const setback = await pump(desk, runner, row)
  if (!setback) return
  await closeDestination(runner)
  if (runner.isOver) return
  noted(destination, { failure: setback.failure })
  app.log.warn({ team_id, destination, failure: setback.failure }, 'a pipeline cannot publish')
  const at = app.wall()
  const retry_at = retryAt(setback.failures, at, Math.random())
  await store.setBack(app.db, row, { holder, error: setback.failure, at, retry_at })
}

/** Page after page until the end of the log, or until one is refused. */
async function pump(desk: PublisherContext, runner: Runner, row: store.Held): Promise<{ failure: Failure; failures: number } | undefined> {
  const { app, holder, noted } = desk
  const { team_id, destination, event_type_prefixes } = row
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
      noted(destination, { published: confirmed })
    }
    const from = runner.place
    runner.place = confirmed === logged.length ? place : (logged[confirmed - 1]?.place ?? from)
    const isOurs = await record(runner, () =>
      store.advance(app.db, row, { holder, from, place: runner.place, delivered: confirmed, at: app.wall() }),
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

async function send({ app, reach, ends }: PublisherContext, runner: Runner, row: store.Held, logged: Parameters<typeof publishAll>[1]) {
  try {
    if (!runner.outlet?.isOpen()) runner.outlet = await openDestination(app, row, reach, ends)
  } catch (error) {
    return { confirmed: 0, error: error as { code?: unknown } }
  }
  const { confirmed, error } = await publishAll(runner.outlet, logged, () => runner.isOver)
  return { confirmed, error: error as { code?: unknown } | undefined }
}

export async function closeDestination(runner: Runner) {
  const { outlet } = runner
  runner.outlet = undefined
  await outlet?.close()
}
