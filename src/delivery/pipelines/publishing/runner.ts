import { setTimeout as pause } from 'node:timers/promises'
import type { SupportedDestination } from '../../../contract/delivery/pipelines.ts'
import type { App } from '../../../platform/app.ts'
import { SECOND } from '../../../platform/time.ts'
import { readEntries } from '../../events/log.ts'
import type { Destination, OutboundOptions } from '../destinations/destination.ts'
import { openDestination } from '../destinations/open-destination.ts'
import { patternsOf } from '../rules.ts'
import { type Failure, failureOf, retryAt } from '../rules-failure.ts'
import { publishAll } from './publish.ts'
import * as store from './store-holding.ts'

/** Events in flight before the position is recorded. These may be published twice after a crash. */
const PAGE_SIZE = 100
const RECORD_ATTEMPTS = 50
const RECORD_RETRY_MS = SECOND / 5

/** Updates the metrics after publishing. */
export type RecordMetrics = (destination: SupportedDestination, result: { published: number } | { failure: Failure }) => void

export type PublisherContext = { app: App; holder: string; outbound: OutboundOptions; recordMetrics: RecordMetrics; signal: AbortSignal }

/** A claimed destination, with its position in the log. */
export type Runner = {
  revision: number
  position: number
  connection?: Destination | undefined
  running?: Promise<void> | undefined
  /** The pipeline was changed, paused or deleted, or the process stops. */
  isOver: boolean
  ended?: Promise<void> | undefined
}

/** Publishes pending events. A failure of the destination is recorded on it; a database failure is thrown. */
export async function publishPending(context: PublisherContext, runner: Runner, row: store.HeldDestination) {
  const { app, holder, recordMetrics } = context
  const { team_id, destination } = row
  const failedAttempt = await publishPages(context, runner, row)
  if (!failedAttempt) return
  await closeDestination(runner)
  if (runner.isOver) return
  recordMetrics(destination, { failure: failedAttempt.failure })
  app.log.warn({ team_id, destination, failure: failedAttempt.failure }, 'pipeline publishing failed')
  const at = app.wall()
  const retry_at = retryAt(failedAttempt.failures, at, Math.random())
  await store.recordFailure(app.db, row, { holder, error: failedAttempt.failure, at, retry_at })
}

/** Publishes page by page until the end of the log or the first rejection. */
async function publishPages(
  context: PublisherContext,
  runner: Runner,
  row: store.HeldDestination,
): Promise<{ failure: Failure; failures: number } | undefined> {
  const { app, holder, recordMetrics } = context
  const { team_id, destination, event_type_prefixes } = row
  let { failures } = row
  while (!runner.isOver) {
    const { entries, position } = await readEntries(app, team_id, {
      after: runner.position,
      // After a failure one event is published alone, so that those behind it are not repeated with every attempt.
      limit: failures ? 1 : PAGE_SIZE,
      event_type: patternsOf(event_type_prefixes),
      deliverable: true,
    })
    if (position === runner.position) return
    const { confirmed, error } = entries.length ? await send(context, runner, row, entries) : { confirmed: 0 }
    if (confirmed) {
      failures = 0
      recordMetrics(destination, { published: confirmed })
    }
    const from = runner.position
    runner.position = confirmed === entries.length ? position : (entries[confirmed - 1]?.position ?? from)
    const isOurs = await recordPosition(runner, () =>
      store.advancePosition(app.db, row, { holder, from, position: runner.position, delivered: confirmed, at: app.wall() }),
    )
    if (!isOurs) runner.isOver = true
    else if (error) return { failure: failureOf(error), failures: failures + 1 }
  }
}

/** Retries recording the position, because otherwise confirmed events would be published again. */
async function recordPosition(runner: Runner, write: () => Promise<boolean>, attempt = 1): Promise<boolean> {
  try {
    return await write()
  } catch (error) {
    if (runner.isOver || attempt === RECORD_ATTEMPTS) throw error
    await pause(RECORD_RETRY_MS)
    return recordPosition(runner, write, attempt + 1)
  }
}

async function send(
  { app, outbound, signal }: PublisherContext,
  runner: Runner,
  row: store.HeldDestination,
  entries: Parameters<typeof publishAll>[1],
) {
  try {
    if (!runner.connection?.isOpen()) runner.connection = await openDestination(app, row, outbound, signal)
  } catch (error) {
    return { confirmed: 0, error: error as { code?: unknown } }
  }
  const { confirmed, error } = await publishAll(runner.connection, entries, () => runner.isOver)
  return { confirmed, error: error as { code?: unknown } | undefined }
}

export async function closeDestination(runner: Runner) {
  const { connection } = runner
  runner.connection = undefined
  await connection?.close()
}
