import { setTimeout as pause } from 'node:timers/promises'
import type { LoggedEvent, Position } from '../../../contract/delivery/log-rows.ts'
import type { SupportedDestination } from '../../../contract/delivery/pipelines.ts'
import { type App, inTransaction } from '../../../platform/app.ts'
import { SECOND } from '../../../platform/time.ts'
import { recordDisclosures } from '../../disclosures/actions.ts'
import type { Disclosure } from '../../disclosures/rules.ts'
import type { LogReader } from '../../events/read.ts'
import type { FormatContext } from '../../formats/body.ts'
import type { FormatVersion } from '../../formats/rules.ts'
import type { Destination, OutboundOptions } from '../destinations/destination.ts'
import { openDestination } from '../destinations/open-destination.ts'
import { patternsOf } from '../rules.ts'
import { type Failure, failureOf, retryAt } from '../rules-failure.ts'
import { newPublications } from './publications.ts'
import { publishAll } from './publish.ts'
import * as store from './store-publishing.ts'

export { listTerms, takeDestinations } from './store-publishing.ts'

/** Events in flight before the position is recorded. These may be published twice after a crash. */
const PAGE_SIZE = 100
const PAGE_BYTES = 8 * 1024 * 1024
const RECORD_ATTEMPTS = 50
const RECORD_RETRY_MS = SECOND / 5

/** Updates the metrics after publishing. */
export type RecordMetrics = (destination: SupportedDestination, result: { published: number } | { failure: Failure }) => void

export type PublishingContext = FormatContext & {
  outbound: OutboundOptions
  recordPublished: RecordMetrics
  isHeld(): boolean
  onError(error: unknown): void
}

export type DestinationRun = ReturnType<typeof openDestinationRun>

/** Publishes the log of a team to a destination from its position on, until it is closed. A failed event is retried without end. */
export function openDestinationRun(context: PublishingContext, log: LogReader, row: store.DestinationState, formats: FormatVersion[]) {
  const { app, recordPublished } = context
  const { team_id, destination } = row
  const toPublication = newPublications(context, row, formats)
  const ending = new AbortController()
  let position: Position = { no: row.after_no, at: row.after_at }
  let { failures, retry_at } = row
  let connection: Destination | undefined
  let publishing: Promise<void> | undefined
  let isClosed = false

  const isWaiting = () => retry_at !== null && retry_at > app.wall()
  const hasMore = () => position.no < log.end().no

  function wake() {
    if (isClosed || publishing || isWaiting() || !hasMore()) return
    publishing = publish()
      .catch(context.onError)
      .finally(() => {
        publishing = undefined
      })
  }

  async function publish() {
    while (!isClosed && !isWaiting() && hasMore() && context.isHeld()) {
      // After a failure one event is published alone, so that those behind it are not repeated with every attempt.
      const limits = { limit: failures ? 1 : PAGE_SIZE, bytes: PAGE_BYTES, event_type: patternsOf(row.event_type_prefixes) }
      const { events, upto } = await log.read(position, limits)
      const { confirmed, error, disclosed } = await send(events)
      if (confirmed) recordPublished(destination, { published: confirmed })
      const last = events[confirmed - 1]
      const next = confirmed === events.length ? upto : last ? { no: last.no, at: last.logged_at } : position
      if (!(await recordPosition(next, { delivered: confirmed, disclosed }))) return void close()
      if (confirmed) failures = 0
      position = next
      if (error) return fail(failureOf(error))
    }
  }

  async function send(events: LoggedEvent[]) {
    const entries = await Promise.all(events.map(toPublication))
    const kept = entries.filter((entry) => entry !== undefined)
    if (!kept.length) return { confirmed: events.length, disclosed: [] }
    try {
      if (!connection?.isOpen()) connection = await openDestination(app, row, context.outbound, ending.signal)
    } catch (error) {
      return { confirmed: 0, disclosed: [], error: error as { code?: unknown } }
    }
    const { confirmed, error } = await publishAll(connection, kept, () => isClosed)
    const disclosed = kept.slice(0, confirmed).flatMap((entry) => entry.disclosed)
    // Erased events between the confirmed ones count as confirmed.
    const upto = confirmed === kept.length ? events.length : events.findIndex(({ no }) => no === kept[confirmed]?.position)
    return { confirmed: upto, disclosed, error: error as { code?: unknown } | undefined }
  }

  /** Retries recording the position, because otherwise confirmed events would be published again. */
  async function recordPosition(next: Position, published: { delivered: number; disclosed: Disclosure[] }, attempt = 1): Promise<boolean> {
    if (next.no === position.no) return true
    try {
      return await record(next, published)
    } catch (error) {
      if (isClosed || attempt === RECORD_ATTEMPTS) throw error
      await pause(RECORD_RETRY_MS)
      return recordPosition(next, published, attempt + 1)
    }
  }

  const advance = (app: App, next: Position, delivered: number) => store.advancePosition(app.db, row, { next, delivered, at: app.wall() })

  /** Records the position and what was disclosed. A page that disclosed nothing needs no transaction. */
  async function record(next: Position, { delivered, disclosed }: { delivered: number; disclosed: Disclosure[] }) {
    if (!disclosed.length) return advance(app, next, delivered)
    return inTransaction(app, async (app) => {
      const isRecorded = await advance(app, next, delivered)
      if (isRecorded) await recordDisclosures(app, team_id, disclosed)
      return isRecorded
    })
  }

  async function fail(failure: Failure) {
    await disconnect()
    if (isClosed) return
    failures += 1
    const at = app.wall()
    retry_at = retryAt(failures, at, Math.random())
    recordPublished(destination, { failure })
    app.log.warn({ team_id, destination, failure }, 'pipeline publishing failed')
    await store.recordFailure(app.db, row, { error: failure, at, retry_at })
  }

  async function disconnect() {
    const open = connection
    connection = undefined
    await open?.close()
  }

  /** Events in flight may still be confirmed. */
  async function close() {
    isClosed = true
    ending.abort()
    await disconnect()
  }

  return {
    destination,
    term: row.term,
    wake,
    isBusy: () => publishing !== undefined,
    isIdle: () => !publishing && (!hasMore() || isWaiting()),
    dueAt: () => (hasMore() ? retry_at : null),
    /** Waits a short time for confirms of events in flight. */
    async stop(untilMs: number) {
      isClosed = true
      if (!connection) ending.abort()
      await Promise.race([publishing, pause(Math.max(0, untilMs - performance.now()), undefined, { ref: false })])
      await close()
    },
    close: () => void close().catch(context.onError),
  }
}
