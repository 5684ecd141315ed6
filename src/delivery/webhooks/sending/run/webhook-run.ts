import { runAgain } from '../../../../platform/run-again.ts'
import { countAlike } from '../../../disclosures/rules.ts'
import type { Endpoint } from '../../endpoints.ts'
import * as rules from '../../rules.ts'
import { type Breaker, breakerAfter } from '../../rules-health.ts'
import { type HealthOutcome, noChanges } from '../changes.ts'
import { attemptOf } from '../contents.ts'
import type { SendingContext, TeamLog } from '../context.ts'
import type { LoadedWebhook } from '../load.ts'
import { STRICT } from '../rules-filters.ts'
import type * as store from '../store-cursors.ts'
import { openParking } from './parking.ts'
import type { Item } from './queues.ts'
import { openReading } from './reading.ts'
import { openRequests, type Result } from './requests.ts'
import { newRunState } from './run-state.ts'
import { WINDOW } from './window.ts'

export type WebhookRun = ReturnType<typeof openWebhookRun>

/** Sends the messages of a webhook from its cursor on, until it is closed. */
export function openWebhookRun(context: SendingContext, log: TeamLog, row: store.CursorRow) {
  const { app } = context
  const { team_id } = log
  const { webhook_id, term } = row
  let { flush } = row
  /** Users that were erased while their messages were in flight. */
  const erased = new Set<string>()
  let recordedRetryAt = row.retry_at
  const run = newRunState(context, team_id, row)
  const { positions, queues, window } = run
  const parking = openParking({ app, log, run, note, decide })
  const requests = openRequests({ context, run, settle, rereadErased, onIdle: fillSoon })
  const reading = openReading({ context, log, run, parking, requests, note, decide })
  const filling = runAgain(() => reading.fill().catch(requests.retrySoon))

  function fillSoon() {
    requests.sendReady()
    if (!run.isClosed) filling.run()
  }

  function note() {
    run.changes.isDirty = true
    log.recordSoon(positions.length() >= WINDOW)
  }

  /** The health as it is stored, plus the outcomes that are not recorded yet. */
  function setState(state: store.WebhookState) {
    run.state = state
    run.breaker = run.changes.outcomes.reduce<Breaker>((breaker, outcome) => breakerAfter(breaker, outcome, outcome.at), state)
  }

  // Deciding

  function decide({ place, replay }: Pick<Item, 'place' | 'replay'>, isSent = true) {
    if (place) (replay?.positions ?? positions).decide(place)
    replay?.count(isSent)
    note()
  }

  function settle(item: Item, endpoint: Endpoint, { outcome, key, signature, body, disclosed, at, probed }: Result) {
    const attempt = 1 + (item.place ? item.attempts : parking.attempts(item.key))
    const now = app.wall()
    const verdict = rules.afterAttempt({ attempts: attempt, outcome, at: now, random: Math.random() })
    run.changes.outcomes.push({ outcome, probed, at: now })
    run.changes.disclosed.push(...disclosed)
    run.breaker = breakerAfter(run.breaker, { outcome, probed }, now)
    if (!endpoint.inbox) {
      const { event, key: queue, previous } = item
      const message = { ...event, event_id: event.id, event_at: event.logged_at, team_id, key: queue, previous }
      run.changes.attempts.push(attemptOf(key, endpoint, message, { attempt, at, outcome, verdict, signature, ...body }))
    }
    if (verdict.state !== 'waiting') finish(item)
    else if (!rereadErased(item)) fail(item, { attempts: attempt, retryAt: verdict.due_at })
    note()
  }

  /** The message is delivered, or given up. */
  function finish(item: Item) {
    window.letGo(item)
    if (!item.place) return parking.finish(item)
    if (item.key === STRICT && !item.replay) run.stopWaiting()
    decide(item)
    queues.free(item.key)
  }

  /** The log has nothing of an erased user but that it was deleted. */
  function rereadErased(item: Item) {
    if (!isErased(item)) return false
    window.letGo(item)
    queues.free(item.key)
    reading.letGo()
    return true
  }

  function fail(item: Item, failure: { attempts: number; retryAt: string }) {
    if (item.key === STRICT && item.place && !item.replay) {
      run.waiting = { ...failure, isHeld: true }
      return requests.putBack({ ...item, attempts: failure.attempts })
    }
    window.letGo(item)
    if (!item.place) return parking.fail(item, failure)
    parking.park(item, failure)
    if (item.key !== STRICT) parking.parkBehind(item.key)
    queues.free(item.key)
  }

  const isErased = ({ event: { user_id } }: Item) => user_id !== null && erased.has(user_id)

  return {
    webhook_id,
    /** The cursor as this worker knows it. */
    held: () => ({ webhook_id, term, flush }),
    state: () => run.state,
    /** The settings, filters, parked keys and replays, as they are stored now. Everything up to now is recorded. */
    refresh(next: LoadedWebhook) {
      setState(next.state)
      run.versions = next.versions
      run.formats = next.formats
      parking.refresh(next.parked)
      for (const item of queues.remove(({ replay }) => replay !== undefined && !next.replays.some(({ id }) => id === replay.id)))
        window.letGo(item)
      run.replays = next.replays.map((replay) => run.replays.find(({ id }) => id === replay.id) ?? replay)
      // Its window has no events.
      if (run.replays.some((replay) => replay.isOver())) note()
      if (next.cursor.retry_at !== recordedRetryAt) run.waiting.retryAt = next.cursor.retry_at
      recordedRetryAt = next.cursor.retry_at
      requests.retryStrict()
      fillSoon()
    },
    /** The users of the messages that it holds. */
    heldUsers: () => [...queues.items(), ...requests.inFlight.keys()].flatMap(({ event: { user_id } }) => user_id ?? []),
    /** Reads everything again after users were erased. What is in flight is not repeated. */
    forgetUsers(user_ids: Set<string>) {
      for (const user_id of user_ids) erased.add(user_id)
      reading.letGo()
      if (requests.inFlight.size === 0) erased.clear()
    },
    /** Updates the health as it was recorded. */
    setState,
    wake: () => {
      requests.retryStrict()
      fillSoon()
    },
    /** What has happened since the last call. */
    takeChange(): (store.CursorChange & { outcomes: HealthOutcome[] }) | undefined {
      if (!run.changes.isDirty) return undefined
      const { parked, removed, disclosed, isDirty: _, ...taken } = run.changes
      run.changes = noChanges()
      run.recordedNo = positions.position().after_no
      recordedRetryAt = run.waiting.retryAt
      return {
        ...taken,
        cursor: { ...positions.position(), webhook_id, term, flush, attempts: run.waiting.attempts, retry_at: run.waiting.retryAt },
        jobs: run.replays.map((replay) => replay.takeChange(app.wall())),
        parked: parking.rowsOf(parked),
        disclosed: countAlike(disclosed),
        removed: [...removed].filter((key) => !parking.has(key)).map((key) => ({ webhook_id, key })),
      }
    },
    /** The last change is recorded. */
    confirm() {
      flush += 1
      run.replays = run.replays.filter((replay) => !replay.isReported())
    },
    /** Records the position too if it has only skipped events. */
    noteIdle() {
      if (positions.position().after_no > run.recordedNo) note()
    },
    /** Whether the worker has nothing to do for it before `dueAt`. */
    isIdle: () =>
      !run.changes.isDirty &&
      requests.inFlight.size === 0 &&
      !requests.isSending() &&
      !filling.isRunning() &&
      (run.isPaused() || (run.waiting.isHeld && !queues.hasReady()) || (window.count() === 0 && !reading.isReading())),
    dueAt() {
      if (!run.state || run.state.disabled_at) return null
      const pausedUntil = run.breaker.paused_until !== null && run.breaker.paused_until > app.wall() ? run.breaker.paused_until : null
      const hasMore = positions.read().no < log.end().no || window.count() > 0 || run.replays.length > 0
      if (pausedUntil) return hasMore || parking.dueAt() ? pausedUntil : null
      const times = [run.waiting.retryAt, parking.dueAt()].filter((at) => at !== null && at !== undefined)
      return times.sort()[0] ?? null
    },
    /** Drops what it holds. Requests in flight go on, and their outcomes are ignored. */
    close() {
      run.isClosed = true
      requests.close()
      window.clear()
    },
    isBusy: () => run.changes.isDirty || requests.isSending() || filling.isRunning(),
    countInFlight: () => requests.inFlight.size,
  }
}
