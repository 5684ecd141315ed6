import type { FilterVersion, LoggedEvent } from '../../../../contract/delivery/log-rows.ts'
import { later } from '../../../../platform/time.ts'
import { formatAt, presentFormat } from '../../../formats/rules.ts'
import type { SendingContext, TeamLog } from '../context.ts'
import type { Replay } from '../replay.ts'
import { filterAfter, isMessage, keyOf, STRICT, takes, versionAt } from '../rules-filters.ts'
import type { Positions } from '../rules-positions.ts'
import type { Parking } from './parking.ts'
import type { Item } from './queues.ts'
import type { Requests } from './requests.ts'
import type { RunState } from './run-state.ts'
import { WINDOW } from './window.ts'

/** A position that only skipped events is recorded rarely, because reading them again costs little. */
const SKIPPED_POSITIONS = 10_000

type Parts = {
  context: SendingContext
  log: TeamLog
  run: RunState
  parking: Parking
  requests: Requests
  note(): void
  decide(item: Pick<Item, 'place' | 'replay'>, isSent?: boolean): void
}

/** Reads what a webhook receives into its queues, while its window has room: due parked messages, the log, and replays. */
export function openReading({ context, log, run, parking, requests, note, decide }: Parts) {
  const { positions, queues, window } = run

  async function fill() {
    while (!run.isClosed && !run.isPaused() && window.hasRoom() && (await parking.loadDue())) requests.sendReady()
    requests.sendReady()
    await fillLive()
    for (const replay of run.replays) await fillReplay(replay)
    if (run.isPaused()) letGo()
    else if (run.isWaiting()) letGoUnparked()
  }

  async function fillLive() {
    while (mayRead() && hasUnread()) {
      // Earlier filters hold up to their positions, so only the present one can select in the database.
      const event_type = filterAfter(run.versions, positions.read().no)
      const room = window.room()
      const limit = Math.min(room.limit, WINDOW - positions.length())
      const from = positions.read()
      const { events, upto } = await log.read(from, { ...room, limit, event_type })
      if (run.isClosed) return
      if (positions.read() !== from) continue
      if (addAll(events, addLive, positions)) positions.skipTo(upto)
      if (positions.read().no - run.recordedNo >= SKIPPED_POSITIONS) note()
      requests.sendReady()
    }
  }

  const hasUnread = () => positions.length() < WINDOW && positions.read().no < log.end().no
  /** New messages can still be parked when a replay waits. */
  const hasUnreplayed = ({ positions, end }: Replay) => positions.read().no < end.no && !parking.isHalfFull()

  /** Whether it reads more as soon as there is room. */
  const isReading = () => !run.isPaused() && !run.isWaiting() && !parking.isFull() && (hasUnread() || run.replays.some(hasUnreplayed))

  function mayRead() {
    if (run.isClosed || run.isPaused() || run.isWaiting() || !context.isHeld()) return false
    parkSlowest()
    return !parking.isFull() && window.hasRoom()
  }

  /** Makes room for other webhooks: messages that wait are read again. */
  function letGo() {
    parking.letGo([...requests.inFlight.keys()])
    letGoUnparked()
  }

  function letGoUnparked() {
    for (const item of queues.remove(({ place }) => place !== undefined)) window.letGo(item)
    if (run.waiting.isHeld) requests.releaseStrict()
    const sending = new Set([...requests.inFlight.keys()].map(({ place }) => place))
    for (const { positions } of [run, ...run.replays]) positions.rewind((place) => sending.has(place))
  }

  /** Everything in the window behind the first undecided message is decided, so its key is parked while its request goes on. */
  function parkSlowest() {
    if (positions.length() < WINDOW || queues.hasReady() || !requests.hasRoom()) return
    const slowest = [...requests.inFlight].find(([{ place, replay, key }]) => place && !replay && key !== STRICT && run.isFirst(place))
    if (!slowest) return
    const [item, sentAt] = slowest
    parking.park(item, { attempts: item.attempts, retryAt: later(sentAt, context.timeoutMs), isBusy: true })
    item.place = undefined
    parking.parkBehind(item.key)
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
    const version = versionAt(run.versions, event.no)
    if (!isMessage(version, event)) return
    const place = positions.add({ no: event.no, at: event.logged_at })
    if (!place) return
    const key = keyOf(version.ordering, event)
    const isWaitedFor = key === STRICT && run.isFirst(place)
    if (!event.sealed) {
      // Its user was erased, so there is no payload left to deliver.
      if (isWaitedFor) run.stopWaiting()
      return decide({ place })
    }
    const attempts = isWaitedFor ? run.waiting.attempts : 0
    enqueue({ event, key, previous: place.previous, format: formatAt(run.formats, event.no), attempts, place })
  }

  function enqueue(item: Item) {
    if (parking.has(item.key)) return parking.park(item)
    window.hold(item)
    queues.add(item)
  }

  async function fillReplay(replay: Replay) {
    while (mayRead() && hasUnreplayed(replay)) {
      const from = replay.positions.read()
      const { events, upto } = await log.read(from, { ...window.room(), event_type: replay.event_types, end: replay.end })
      if (run.isClosed || !run.replays.includes(replay)) return
      if (replay.positions.read() !== from) continue
      if (addAll(events, (event) => addReplayed(replay, event), replay.positions)) replay.positions.skipTo(upto)
      note()
      requests.sendReady()
    }
  }

  /** The present filter and format decide, so that a replay sends what an earlier filter left out. */
  function addReplayed(replay: Replay, event: LoggedEvent) {
    const version = run.versions.at(-1) as FilterVersion
    if (!isMessage(version, event) || !takes(replay.event_types, event.event_type)) return
    const place = replay.positions.add({ no: event.no, at: event.logged_at })
    if (!place) return
    const key = keyOf(version.ordering, event)
    const item = { event, key, previous: null, format: presentFormat(run.formats).format, attempts: 0, place, replay }
    if (event.sealed) enqueue(item)
    else decide({ place, replay }, false)
  }

  return { fill, isReading, letGo }
}
