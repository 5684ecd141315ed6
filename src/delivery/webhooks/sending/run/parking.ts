import type { LoggedEvent } from '../../../../contract/delivery/log-rows.ts'
import type { App } from '../../../../platform/app.ts'
import { listEventsAt } from '../../../events/access.ts'
import type { TeamLog } from '../context.ts'
import { keyBesideOrder, STRICT } from '../rules-filters.ts'
import * as store from '../store-cursors.ts'
import { parkedKeys } from './parked-keys.ts'
import type { Item } from './queues.ts'
import type { RunState } from './run-state.ts'

/** Keys that are loaded at once, and messages of each. Together they fill a window. */
const KEYS_AT_ONCE = 32
const MESSAGES_PER_KEY = 8

type Parts = {
  app: App
  log: TeamLog
  run: RunState
  /** Notes that there is something to record. */
  note(): void
  /** The cursor or the replay goes on after a message that was parked. */
  decide(item: Item): void
}

type ParkedMessage = Awaited<ReturnType<typeof store.listParked>>[number] & { event: LoggedEvent | undefined }

type Failure = { attempts: number; retryAt: string; isBusy?: boolean }

/** A message that was parked when it was read. */
const isLoaded = ({ place }: Item) => !place

export type Parking = ReturnType<typeof openParking>

/** The parked keys of a webhook: a message that failed waits for its retry, and later ones of its key wait behind it. */
export function openParking({ app, log, run, note, decide }: Parts) {
  const { team_id, webhook_id, queues, window } = run
  const keys = parkedKeys()
  /** Keys whose messages are being loaded. */
  const loading = new Set<string>()

  /** Parks a message, behind those of its key or after a failure. */
  function park(item: Item, failure?: Failure) {
    const key = item.key === STRICT ? keyBesideOrder('strict', item.event) : item.key
    if (failure) loading.delete(key)
    const entry = keys.get(key) ?? { attempts: 0, retryAt: app.wall(), stored: 0, isBusy: false }
    keys.put(key, { ...entry, isBusy: failure ? false : entry.isBusy, ...failure, stored: entry.stored + 1 })
    run.changes.parked.add(key)
    const { event, previous, format } = item
    run.changes.messages.push({ webhook_id, key, no: event.no, logged_at: event.logged_at, previous, format })
    decide(item)
  }

  /** Parks the messages that are queued behind a parked one. Those that are parked already are loaded again. */
  function parkBehind(key: string) {
    for (const item of queues.clear(key)) {
      window.letGo(item)
      if (item.place) park(item)
    }
  }

  /** Queues the first messages of keys whose retry is due. Returns whether there were any. */
  async function loadDue() {
    const due = keys.takeDue(app.wall(), KEYS_AT_ONCE)
    if (!due.length) return false
    for (const key of due) {
      keys.change(key, { isBusy: true })
      loading.add(key)
    }
    const messages = await listMessages(due).catch((error: unknown) => {
      for (const key of due) if (loading.delete(key)) keys.change(key, { isBusy: false })
      throw error
    })
    // A key whose message has failed meanwhile waits again.
    if (!run.isClosed) for (const key of due) if (loading.delete(key)) queueLoaded(key, messages.get(key) ?? [])
    return true
  }

  async function listMessages(keys: string[]) {
    await log.recorded()
    const rows = await store.listParked(app.db, { team_id, webhook_id, keys, limit: MESSAGES_PER_KEY })
    const positions = rows.map(({ no, logged_at }) => ({ no, at: logged_at }))
    // An event is absent once its retention has ended.
    const events = await listEventsAt(app.db, team_id, positions)
    return Map.groupBy(
      rows.map((row) => ({ ...row, event: events.get(row.no) })),
      ({ parked_key }) => parked_key,
    )
  }

  function queueLoaded(key: string, messages: ParkedMessage[]) {
    // The attempts were those of a message that is gone.
    if (messages[0] && !messages[0].event?.sealed) {
      keys.change(key, { attempts: 0 })
      run.changes.parked.add(key)
    }
    for (const { no, previous, format, event } of messages)
      if (event?.sealed) {
        const item = { event, key, previous, format: format ?? 'full', attempts: 0 }
        window.hold(item)
        queues.add(item)
      } else release(key, no)
    // An erasure has removed the others.
    if (!messages.length) keys.change(key, { stored: 0 })
    endPage(key)
  }

  function release(key: string, no: number) {
    const { messages, released } = run.changes
    const unrecorded = messages.findLastIndex((message) => message.key === key && message.no === no)
    // Releases are recorded before messages, so one that was parked since the last record must not be parked at all.
    if (unrecorded >= 0) messages.splice(unrecorded, 1)
    else released.push({ webhook_id, key, no })
    keys.change(key, { stored: (keys.get(key)?.stored ?? 1) - 1 })
    note()
  }

  /** Goes on with a key once everything that was loaded of it is decided. Replayed messages can be queued behind it. */
  function endPage(key: string) {
    const entry = keys.get(key)
    if (!entry || queues.has(key, isLoaded)) return
    keys.put(key, { ...entry, isBusy: false, retryAt: app.wall() })
    if (entry.stored > 0) return
    keys.delete(key)
    run.changes.parked.delete(key)
    run.changes.removed.add(key)
    note()
  }

  return {
    has: (key: string) => keys.get(key) !== undefined,
    attempts: (key: string) => keys.get(key)?.attempts ?? 0,
    isFull: keys.isFull,
    isHalfFull: keys.isHalfFull,
    dueAt: keys.dueAt,
    park,
    parkBehind,
    loadDue,
    /** A parked message is delivered, or given up. The next one of its key follows. */
    finish({ key, event }: Item) {
      keys.change(key, { attempts: 0 })
      run.changes.parked.add(key)
      release(key, event.no)
      queues.free(key)
      endPage(key)
    },
    /** A parked message failed again. Those behind it are loaded after its next attempt. */
    fail({ key }: Item, { attempts, retryAt }: Failure) {
      parkBehind(key)
      queues.free(key)
      keys.change(key, { attempts, retryAt, isBusy: false })
      run.changes.parked.add(key)
    },
    /** Lets go what is loaded, or being loaded. It is loaded again when it is due. */
    letGo(inFlight: Item[]) {
      loading.clear()
      for (const item of queues.remove(isLoaded)) window.letGo(item)
      const sending = new Set(inFlight.filter(isLoaded).map(({ key }) => key))
      for (const [key, { isBusy }] of keys.entries()) if (isBusy && !sending.has(key)) keys.change(key, { isBusy: false })
    },
    /** Takes over what is stored, plus the changes that are not recorded yet. */
    refresh(rows: Awaited<ReturnType<typeof store.listParkedKeys>>) {
      const unrecorded = new Map<string, number>()
      for (const { key } of run.changes.messages) unrecorded.set(key, (unrecorded.get(key) ?? 0) + 1)
      for (const { key } of run.changes.released) unrecorded.set(key, (unrecorded.get(key) ?? 0) - 1)
      for (const { key, attempts, retry_at, stored: recordedCount } of rows) {
        const known = keys.get(key)
        const stored = recordedCount + (unrecorded.get(key) ?? 0)
        if (known && run.changes.parked.has(key)) keys.put(key, { ...known, stored })
        else if (known || stored > 0) keys.put(key, { attempts, retryAt: retry_at, stored, isBusy: known?.isBusy ?? false })
      }
      const stored = new Set(rows.map(({ key }) => key))
      for (const [key, { isBusy }] of keys.entries()) if (!stored.has(key) && !isBusy && !run.changes.parked.has(key)) keys.delete(key)
    },
    /** The rows of changed keys. */
    rowsOf: (changed: Iterable<string>) =>
      [...changed].flatMap((key) => {
        const entry = keys.get(key)
        return entry ? [{ webhook_id, key, attempts: entry.attempts, retry_at: entry.retryAt }] : []
      }),
  }
}
