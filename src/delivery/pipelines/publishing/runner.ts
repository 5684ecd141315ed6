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

/** Events in flight before the position is recorded. These may be published twice after a crash. */
const PAGE = 100
const RECORD_TRIES = 50
const RECORD_AFTER = SECOND / 5

/** Updates the metrics after publishing. */
export type Noted = (destination: SupportedDestination, what: { published: number } | { failure: Failure }) => void

export type PublisherContext = { app: App; holder: string; reach: OutboundOptions; noted: Noted; ends: AbortSignal }

/** A claimed destination; `place` is its position in the log. */
export type Runner = {
  revision: number
  place: number
  outlet?: Destination | undefined
  running?: Promise<void> | undefined
  /** The pipeline was changed, paused or deleted, or the process stops. */
  isOver: boolean
  ended?: Promise<void> | undefined
}

/** Publishes pending events. A failure of the destination is recorded on it; a database failure is thrown. */
export async function publishPending(desk: PublisherContext, runner: Runner, row: store.Held) {
  const { app, holder, noted } = desk
  const { team_id, destination } = row
  const setback = await pump(desk, runner, row)
  if (!setback) return
  await closeDestination(runner)
  if (runner.isOver) return
  noted(destination, { failure: setback.failure })
  app.log.warn({ team_id, destination, failure: setback.failure }, 'pipeline publishing failed')
  const at = app.wall()
  const retry_at = retryAt(setback.failures, at, Math.random())
  await store.setBack(app.db, row, { holder, error: setback.failure, at, retry_at })
}

/** Publishes page by page until the end of the log or the first rejection. */
async function pump(desk: PublisherContext, runner: Runner, row: store.Held): Promise<{ failure: Failure; failures: number } | undefined> {
  const { app, holder, noted } = desk
  const { team_id, destination, event_type_prefixes } = row
  let { failures } = row
  while (!runner.isOver) {
    const { logged, place } = await logAfter(app, team_id, {
      after: runner.place,
      // After a failure one event is published alone, so that those behind it are not repeated with every attempt.
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

/** Retries recording the position, because otherwise confirmed events would be published again. */
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
