import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type App, later, SECOND } from '../app.ts'
import type { Reach } from './outlet.ts'
import { closeOutlet, type Desk, type Noted, publishWaiting, type Runner } from './runner.ts'
import * as store from './store-holding.ts'

const POLL = SECOND / 4
/** Others take a pipeline over so long after its process was last heard of. */
export const LEASE = 10 * SECOND
const RENEW_EVERY = 3 * SECOND
/** So many are taken at a look, so that processes that start together share them. */
const CLAIMED_AT_ONCE = 8
const END_WITHIN = 5 * SECOND

export type Publisher = { stop(): Promise<void> }

/** Publishes to brokers until it is stopped. Of all processes one holds a pipeline at a time. */
export function startPublisher(app: App, reach: Reach, failed: (error: unknown) => void, noted: Noted = () => {}): Publisher {
  const desk: Desk = { app, holder: randomUUID(), reach, noted }
  const runners = new Map<string, Runner>()
  let renewedAt = 0
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  async function look() {
    const now = app.wall()
    const lease = { holder: desk.holder, now, until: later(now, LEASE) }
    if (performance.now() - renewedAt > RENEW_EVERY) {
      await store.renew(app.db, lease)
      renewedAt = performance.now()
    }
    await store.claimFree(app.db, lease, CLAIMED_AT_ONCE)
    const rows = new Map((await store.held(app.db, desk.holder)).map((row) => [nameOf(row), row]))
    for (const [name, runner] of runners) if (runner.isOver || rows.get(name)?.revision !== runner.revision) end(name, runner)
    for (const [name, row] of rows) if (row.is_behind && !(row.retry_at && row.retry_at > now)) begin(name, row)
  }

  function begin(name: string, row: store.Held) {
    const runner = runners.get(name) ?? { revision: row.revision, place: row.after_no, isOver: false }
    if (runner.running || runner.isOver || stopping) return
    runners.set(name, runner)
    runner.running = publishWaiting(desk, runner, row)
      .catch((error) => {
        failed(error)
        runner.isOver = true
      })
      .finally(() => {
        runner.running = undefined
      })
  }

  /** It stays in hand until what is under way has ended, so that its successor does not overtake it. */
  function end(name: string, runner: Runner) {
    runner.isOver = true
    if (runner.running) return
    runners.delete(name)
    closeOutlet(runner).catch(failed)
  }

  function lookNow() {
    looking = look()
      .catch(failed)
      .finally(() => {
        if (!stopping) timer = setTimeout(lookNow, POLL)
      })
  }
  lookNow()

  return {
    async stop() {
      stopping = true
      clearTimeout(timer)
      await looking
      const all = [...runners.values()]
      for (const runner of all) runner.isOver = true
      const running = Promise.all(all.map((runner) => runner.running))
      await Promise.race([running, pause(END_WITHIN, undefined, { ref: false })])
      await Promise.all(all.map(closeOutlet))
      await running
      await Promise.resolve(store.release(app.db, desk.holder)).catch(failed)
    },
  }
}

/** A pipeline that was deleted and made again is another one. */
const nameOf = ({ team_id, created_at }: store.Held) => `${team_id} ${created_at}`
