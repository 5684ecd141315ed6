import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { appOf, type Service } from '../../../platform/app.ts'
import { SECOND } from '../../../platform/time.ts'
import type { OutboundOptions } from '../destinations/destination.ts'
import { closeDestination, type Noted, type PublisherContext, publishPending, type Runner } from './runner.ts'
import * as store from './store-holding.ts'

const POLL = SECOND / 4
/** Other processes take over a destination this long after its process last renewed its lease. */
const LEASE_SECONDS = 6
const RENEW_EVERY = 2 * SECOND
/** Destinations claimed per poll, so that processes that start together share them. */
const CLAIMED_AT_ONCE = 8
const END_WITHIN = 5 * SECOND

export type Publisher = { stop(): Promise<void> }

/** Publishes until it is stopped. One process at a time holds a destination. */
export function startPublisher(
  service: Service,
  reach: OutboundOptions,
  failed: (error: unknown) => void,
  noted: Noted = () => {},
): Publisher {
  const app = appOf(service)
  const ending = new AbortController()
  const desk: PublisherContext = { app, holder: randomUUID(), reach, noted, ends: ending.signal }
  const runners = new Map<string, Runner>()
  let renewedAt = 0
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  async function look() {
    const { holder } = desk
    if (performance.now() - renewedAt > RENEW_EVERY) {
      await store.renew(app.db, holder, LEASE_SECONDS)
      renewedAt = performance.now()
    }
    const taken = await store.claimFree(app.db, holder, { seconds: LEASE_SECONDS, most: CLAIMED_AT_ONCE })
    for (const { team_id, destination } of taken) app.log.info({ team_id, destination, holder }, 'pipeline claimed')
    const now = app.wall()
    const rows = new Map((await store.held(app.db, holder)).map((row) => [nameOf(row), row]))
    for (const [name, runner] of runners) if (runner.isOver || rows.get(name)?.revision !== runner.revision) end(name, runner)
    for (const [name, row] of rows) if (row.is_behind && !(row.retry_at && row.retry_at > now)) begin(name, row)
  }

  function begin(name: string, row: store.Held) {
    const runner = runners.get(name) ?? { revision: row.revision, place: row.after_no, isOver: false }
    if (runner.running || runner.isOver || stopping) return
    // Another process held it meanwhile.
    runner.place = Math.max(runner.place, row.after_no)
    runners.set(name, runner)
    runner.running = publishPending(desk, runner, row)
      .catch((error) => {
        failed(error)
        runner.isOver = true
      })
      .finally(() => {
        runner.running = undefined
      })
  }

  /** The destination stays claimed until its events in flight are done, so that the next holder does not overtake them. */
  function end(name: string, runner: Runner) {
    runner.isOver = true
    runner.ended ??= closeInTime(runner)
      .catch(failed)
      .finally(() => runners.delete(name))
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
      const all = [...runners]
      for (const [name, runner] of all) end(name, runner)
      ending.abort()
      await looking
      await Promise.all(all.map(([, { ended }]) => ended))
      await store.release(app.db, desk.holder).catch(failed)
    },
  }
}

/** Events in flight may still be confirmed, within a short time limit. */
async function closeInTime(runner: Runner) {
  await Promise.race([runner.running, pause(END_WITHIN, undefined, { ref: false })])
  await closeDestination(runner)
  await runner.running
  // The destination may have been opened only after the stop began.
  await closeDestination(runner)
}

/** A pipeline that was deleted and recreated is a different one. */
const nameOf = ({ team_id, destination, created_at }: store.Held) => `${team_id} ${destination} ${created_at}`
