import type { FilterVersion, LoggedEvent, Position } from '../../../contract/delivery/log-rows.ts'
import type { App } from '../../../platform/app.ts'
import { isDatabaseUnavailable } from '../../../platform/db/errors.ts'
import type { Sender } from '../../../platform/outbound/send.ts'
import { runAgain } from '../../../platform/run-again.ts'
import { later, SECOND } from '../../../platform/time.ts'
import type { Shares } from '../../worker/shares.ts'
import { type Endpoint, endpointsOf } from '../endpoints.ts'
import * as rules from '../rules.ts'
import { BREAKER_THRESHOLD, type Breaker, breakerAfter, closedBreaker } from '../rules-health.ts'
import { type HealthOutcome, noChanges } from './changes.ts'
import { attemptOf } from './contents.ts'
import { type Exchange, exchange } from './exchange.ts'
import type { LoadedWebhook } from './load.ts'
import { openParking } from './parking.ts'
import { type Item, newQueues } from './queues.ts'
import { newRate } from './rate.ts'
import type { Replay } from './replay.ts'
import { isMessage, keyOf, STRICT, takes, versionAt } from './rules-filters.ts'
import { followPositions, type Place, type Positions } from './rules-positions.ts'
import type * as store from './store-cursors.ts'
import { newWindow, WINDOW } from './window.ts'

const REQUESTS_AT_ONCE = 64
const INTERNAL_RETRY_MS = 30 * SECOND
const RETRY_MS = SECOND
/** A position that only skipped events is recorded rarely, because reading them again costs little. */
const SKIPPED_POSITIONS = 10_000

export type SendingContext = {
  app: App
  send: Sender['post']
  /** How long a request may take. */
  timeoutMs: number
  /** Whether this worker has its lease. Without it, others may be sending. */
  isHeld(): boolean
  /** Requests in flight, messages and bytes in windows, by team. */
  requests: Shares
  messages: Shares
  bytes: Shares
}

/** The log of the team that a webhook reads. */
export type TeamLog = {
  team_id: string
  end(): Position
  /** The next page after a position. */
  read(
    after: Position,
    limits: { limit: number; bytes: number; event_type: string[] | null; end?: Position },
  ): Promise<{ events: LoggedEvent[]; upto: Position }>
  /** Records what has happened: soon, or now. */
  recordSoon(isUrgent: boolean): void
  /** Resolves when everything up to now is recorded. */
  recorded(): Promise<void>
}

export type WebhookRun = ReturnType<typeof openWebhookRun>

/** Sends the messages of a webhook from its cursor on, until it is closed. */
export function openWebhookRun(context: SendingContext, log: TeamLog, row: store.CursorRow) {
  const { app } = context
  const { team_id } = log
  const { webhook_id, term } = row
  let { flush } = row
  let state: store.WebhookState | undefined
  let versions: FilterVersion[] = []
  let breaker: Breaker = closedBreaker
  let replays: Replay[] = []
  /** The message at which a webhook with strict order waits, and whether it is held back. */
  let waiting = { attempts: row.attempts, retryAt: row.retry_at, isHeld: false }
  /** Messages that are being sent, and since when. */
  const inFlight = new Map<Item, string>()
  /** Users that were erased while their messages were in flight. */
  const erased = new Set<string>()
  let isClosed = false
  let rateTimer: NodeJS.Timeout | undefined
  let changes = noChanges()
  let recordedNo = row.after_no
  let recordedRetryAt = row.retry_at
  const positions = followPositions(row)
  const queues = newQueues()
  const window = newWindow(context, team_id)
  const rate = newRate(Date.parse(app.wall()))
  const parking = openParking({
    ...{ app, team_id, webhook_id, queues, window, note, decide },
    changes: () => changes,
    recorded: log.recorded,
    isClosed: () => isClosed,
  })

  function note() {
    changes.isDirty = true
    log.recordSoon(positions.length() >= WINDOW)
  }

  // Reading

  const isPaused = () => !state || state.disabled_at !== null || (breaker.open_until !== null && breaker.open_until > app.wall())

  async function fill() {
    while (!isClosed && !isPaused() && window.hasRoom() && (await parking.loadDue())) sendReady()
    sendReady()
    while (mayRead() && positions.length() < WINDOW && positions.read().no < log.end().no) {
      // Earlier filters hold up to their positions, so only the present one can select in the database.
      const event_type = versions.length === 1 ? (versions[0]?.filter_types ?? null) : null
      const room = window.room()
      const limit = Math.min(room.limit, WINDOW - positions.length())
      const { events, upto } = await log.read(positions.read(), { ...room, limit, event_type })
      if (isClosed) return
      if (addAll(events, addLive, positions)) positions.skipTo(upto)
      if (positions.read().no - recordedNo >= SKIPPED_POSITIONS) note()
      sendReady()
    }
    for (const replay of replays) await fillReplay(replay)
  }

  function mayRead() {
    if (isClosed || isPaused() || !context.isHeld()) return false
    parkSlowest()
    return !parking.isFull() && window.hasRoom()
  }

  /** Adds events while there is room, because others read at the same time. Returns whether all have been added. */
  function addAll(events: LoggedEvent[], add: (event: LoggedEvent) => void, { skipTo }: Positions) {
    for (const event of events) {
      if (!window.hasRoom()) return false
      add(event)
      skipTo({ no: event.no, at: event.logged_at })
    }
    return true
  }

  function addLive(event: LoggedEvent) {
    const version = versionAt(versions, event.no)
    if (!isMessage(version, event)) return
    const place = positions.add({ no: event.no, at: event.logged_at })
    if (place.isDecided) return
    // Its user was erased, so there is no payload left to deliver.
    if (!event.sealed) return decide({ place })
    const key = keyOf(version.ordering, event)
    const item = { event, key, previous: place.previous, attempts: key === STRICT && isFirst(place) ? waiting.attempts : 0, place }
    enqueue(item)
  }

  function enqueue(item: Item) {
    if (parking.has(item.key)) return parking.park(item)
    window.hold(item)
    queues.add(item)
  }

  const isFirst = (place: Place) => positions.firstUndecided() === place

  async function fillReplay(replay: Replay) {
    while (mayRead() && replay.positions.read().no < replay.end.no) {
      const { events, upto } = await log.read(replay.positions.read(), {
        ...window.room(),
        event_type: replay.event_types,
        end: replay.end,
      })
      if (isClosed || !replays.includes(replay)) return
      if (addAll(events, (event) => addReplayed(replay, event), replay.positions)) replay.positions.skipTo(upto)
      note()
      sendReady()
    }
  }

  /** The present filter decides, so that a replay sends what an earlier filter left out. */
  function addReplayed(replay: Replay, event: LoggedEvent) {
    const version = versions.at(-1) as FilterVersion
    if (!isMessage(version, event) || !takes(replay.event_types, event.event_type)) return
    const place = replay.positions.add({ no: event.no, at: event.logged_at })
    if (place.isDecided) return
    const key = keyOf(version.ordering, event)
    const item = { event, key, previous: null, attempts: 0, place, replay }
    if (event.sealed) enqueue(item)
    else decide({ place, replay }, false)
  }

  // Deciding

  function decide({ place, replay }: Pick<Item, 'place' | 'replay'>, isSent = true) {
    if (place) (replay?.positions ?? positions).decide(place)
    replay?.count(isSent)
    note()
  }

  /** Everything in the window behind the first undecided message is decided, so its key is parked while its request goes on. */
  function parkSlowest() {
    if (positions.length() < WINDOW || queues.hasReady() || inFlight.size >= requestLimit()) return
    const slowest = [...inFlight].find(([{ place, replay, key }]) => place && !replay && key !== STRICT && isFirst(place))
    if (!slowest) return
    const [item, sentAt] = slowest
    parking.park(item, { attempts: item.attempts, retryAt: later(sentAt, context.timeoutMs), isBusy: true })
    item.place = undefined
    parking.parkBehind(item.key)
  }

  // Sending

  const sending = runAgain(() => sendAll().catch(retrySoon))

  function sendReady() {
    if (queues.hasReady() && !isClosed && !isPaused()) sending.run()
  }

  const requestLimit = () => (breaker.failures >= BREAKER_THRESHOLD ? 1 : REQUESTS_AT_ONCE)

  async function sendAll() {
    const endpoint = (await endpointsOf(app, team_id, [{ webhook_id, revision: state?.revision ?? 0 }])).get(webhook_id)
    while (endpoint && !isClosed && !isPaused() && context.isHeld() && queues.hasReady()) {
      if (inFlight.size >= requestLimit() || context.requests.room(team_id) <= 0) return
      if (!rate.take(state?.rate_limit ?? null, Date.parse(app.wall()))) return waitForRate()
      const item = queues.take() as Item
      if (item.key === STRICT && !item.replay && waiting.retryAt && waiting.retryAt > app.wall()) return holdStrict(item)
      void sendItem(item, endpoint)
    }
  }

  function waitForRate() {
    clearTimeout(rateTimer)
    rateTimer = setTimeout(sendReady, rate.waitMs(state?.rate_limit ?? 1))
  }

  /** The key stays busy. */
  function putBack(item: Item) {
    queues.putBack(item)
    queues.hold(item.key)
  }

  function holdStrict(item: Item) {
    waiting.isHeld = true
    putBack(item)
  }

  /** Sends the message again at which a webhook with strict order waits, once it is due. */
  function retryStrict() {
    if (!waiting.isHeld || (waiting.retryAt && waiting.retryAt > app.wall())) return
    waiting.isHeld = false
    queues.free(STRICT)
  }

  async function sendItem(item: Item, endpoint: Endpoint) {
    const at = app.wall()
    const probed = breaker.open_until
    inFlight.set(item, at)
    context.requests.take(team_id)
    const result = await exchange(context, team_id, endpoint, item, at).catch((error: unknown) => ({ error }))
    context.requests.release(team_id)
    inFlight.delete(item)
    if (isClosed) return
    if ('error' in result) retryLater(item, result.error)
    // The process is stopping, so this does not count as an attempt.
    else if (result.outcome.error !== 'aborted') settle(item, endpoint, { ...result, at, probed })
    fillSoon()
  }

  /** An internal failure is no attempt. After a database outage the message is sent again at once. */
  function retryLater(item: Item, error: unknown) {
    app.log.error({ webhook_id, code: (error as { code?: string }).code }, 'delivery failed internally')
    if (isErased(item)) return finish(item)
    putBack(item)
    setTimeout(
      () => {
        queues.free(item.key)
        sendReady()
      },
      isDatabaseUnavailable(error) ? RETRY_MS : INTERNAL_RETRY_MS,
    )
  }

  type Result = Exchange & { at: string; probed: string | null }

  function settle(item: Item, endpoint: Endpoint, { outcome, key, signature, at, probed }: Result) {
    const attempt = 1 + (item.place ? item.attempts : parking.attempts(item.key))
    const verdict = rules.afterAttempt({ attempts: attempt, outcome, at: app.wall(), random: Math.random() })
    changes.outcomes.push({ outcome, probed })
    breaker = breakerAfter({ ...breaker, probing: probed !== null && probed === breaker.open_until }, outcome, app.wall())
    if (!endpoint.inbox) {
      const { event, key: queue, previous } = item
      const message = { ...event, event_id: event.id, event_at: event.logged_at, team_id, key: queue, previous }
      changes.attempts.push(attemptOf(key, endpoint, message, { attempt, at, outcome, verdict, signature }))
    }
    if (verdict.state === 'waiting' && !isErased(item)) fail(item, { attempts: attempt, retryAt: verdict.due_at })
    else finish(item)
    note()
  }

  /** The message is delivered, or given up. */
  function finish(item: Item) {
    window.letGo(item)
    if (!item.place) return parking.finish(item)
    if (item.key === STRICT && !item.replay) waiting = { attempts: 0, retryAt: null, isHeld: false }
    decide(item)
    queues.free(item.key)
  }

  function fail(item: Item, failure: { attempts: number; retryAt: string }) {
    if (item.key === STRICT && item.place && !item.replay) {
      waiting = { ...failure, isHeld: true }
      return putBack({ ...item, attempts: failure.attempts })
    }
    window.letGo(item)
    if (!item.place) return parking.fail(item, failure)
    parking.park(item, failure)
    if (item.key !== STRICT) parking.parkBehind(item.key)
    queues.free(item.key)
  }

  const isErased = ({ event: { user_id } }: Item) => user_id !== null && erased.has(user_id)

  /** Drops a message that is not in flight. */
  function drop(item: Item) {
    window.letGo(item)
    if (!item.place)
      return parking.drop(
        item,
        [...inFlight.keys()].some(({ key }) => key === item.key),
      )
    if (waiting.isHeld && !item.replay && isFirst(item.place)) {
      waiting = { attempts: 0, retryAt: null, isHeld: false }
      queues.free(STRICT)
    }
    decide(item, !item.replay)
  }

  // Life

  const filling = runAgain(() => fill().catch(retrySoon))

  function retrySoon(error: unknown) {
    app.log.error({ webhook_id, code: (error as { code?: string }).code }, 'delivery failed internally')
    setTimeout(fillSoon, RETRY_MS)
  }

  function fillSoon() {
    sendReady()
    if (!isClosed) filling.run()
  }

  return {
    webhook_id,
    /** The cursor as this worker knows it. */
    held: () => ({ webhook_id, term, flush }),
    state: () => state,
    /** The settings, filters, parked keys and replays, as they are stored now. Everything up to now is recorded. */
    refresh(next: LoadedWebhook) {
      state = next.state
      versions = next.versions
      breaker = { ...breaker, failures: state.failures, trips: state.trips, open_until: state.paused_until }
      parking.refresh(next.parked)
      for (const item of queues.remove(({ replay }) => replay !== undefined && !next.replays.some(({ id }) => id === replay.id)))
        window.letGo(item)
      replays = next.replays.map((replay) => replays.find(({ id }) => id === replay.id) ?? replay)
      // Its window has no events.
      if (replays.some((replay) => replay.isOver())) note()
      if (next.cursor.retry_at !== recordedRetryAt) waiting.retryAt = next.cursor.retry_at
      recordedRetryAt = next.cursor.retry_at
      retryStrict()
      fillSoon()
    },
    /** The users of the messages that it holds. */
    heldUsers: () => [...queues.items(), ...inFlight.keys()].flatMap(({ event: { user_id } }) => user_id ?? []),
    /** Drops the messages of erased users. Those in flight are not repeated. */
    forgetUsers(user_ids: Set<string>) {
      for (const user_id of user_ids) erased.add(user_id)
      for (const item of queues.remove(isErased)) drop(item)
      if (inFlight.size === 0) erased.clear()
    },
    /** Updates the health as it was recorded. */
    setState(next: store.WebhookState) {
      state = next
      breaker = { failures: next.failures, trips: next.trips, open_until: next.paused_until, probing: false }
    },
    wake: () => {
      retryStrict()
      fillSoon()
    },
    /** What has happened since the last call. */
    takeChange(): (store.CursorChange & { outcomes: HealthOutcome[] }) | undefined {
      if (!changes.isDirty) return undefined
      const { parked, removed, isDirty: _, ...taken } = changes
      changes = noChanges()
      recordedNo = positions.position().after_no
      recordedRetryAt = waiting.retryAt
      return {
        ...taken,
        cursor: { ...positions.position(), webhook_id, term, flush, attempts: waiting.attempts, retry_at: waiting.retryAt },
        jobs: replays.map((replay) => replay.takeChange(app.wall())),
        parked: parking.rowsOf(parked),
        removed: [...removed].filter((key) => !parking.has(key)).map((key) => ({ webhook_id, key })),
      }
    },
    /** The last change is recorded. */
    confirm() {
      flush += 1
      replays = replays.filter((replay) => !replay.isReported())
    },
    /** Records the position too if it has only skipped events. */
    noteIdle() {
      if (positions.position().after_no > recordedNo) note()
    },
    /** Whether the worker has nothing to do for it before `dueAt`. */
    isIdle: () =>
      !changes.isDirty &&
      inFlight.size === 0 &&
      !sending.isRunning() &&
      !filling.isRunning() &&
      (isPaused() || (!queues.hasReady() && window.count() === 0) || waiting.retryAt !== null),
    dueAt() {
      if (!state || state.disabled_at) return null
      const pausedUntil = breaker.open_until !== null && breaker.open_until > app.wall() ? breaker.open_until : null
      const hasMore = positions.read().no < log.end().no || window.count() > 0 || replays.length > 0
      if (pausedUntil) return hasMore || parking.dueAt() ? pausedUntil : null
      const times = [waiting.retryAt, parking.dueAt()].filter((at) => at !== null && at !== undefined)
      return times.sort()[0] ?? null
    },
    /** Drops what it holds. Requests in flight go on, and their outcomes are ignored. */
    close() {
      isClosed = true
      clearTimeout(rateTimer)
      window.clear()
    },
    isBusy: () => changes.isDirty || sending.isRunning() || filling.isRunning(),
    countInFlight: () => inFlight.size,
  }
}
