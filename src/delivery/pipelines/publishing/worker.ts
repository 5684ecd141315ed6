import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { appOf, type Service } from '../../../platform/app.ts'
import type { Search } from '../../../platform/db/due-work.ts'
import { inParallel } from '../../../platform/in-parallel.ts'
import { SECOND } from '../../../platform/time.ts'
import type { OutboundOptions } from '../destinations/destination.ts'
import { closeDestination, type PublisherContext, publishPending, type RecordMetrics, type Runner } from './runner.ts'
import * as store from './store-holding.ts'

/** The interval of a process that holds destinations. */
const POLL_MS = SECOND / 4
/** Other processes take over a destination this long after its process last renewed its lease. */
const LEASE_SECONDS = 6
const RENEW_EVERY_MS = 2 * SECOND
/** Destinations claimed per poll, so that processes that start together share them. */
const CLAIM_LIMIT = 8
/** Teams whose leases are renewed at the same time. */
const TEAMS_AT_ONCE = 4
const DRAIN_TIMEOUT_MS = 5 * SECOND

type Publisher = {
  /** Claims free destinations. */
  job: { name: string; search: Search; run(): Promise<void> }
  stop(): Promise<void>
}

/** Publishes until it is stopped, once its job has found a destination. One process at a time holds a destination. */
export function startPublisher(
  service: Service,
  outbound: OutboundOptions,
  onError: (error: unknown) => void,
  recordMetrics: RecordMetrics = () => {},
): Publisher {
  const app = appOf(service)
  const ending = new AbortController()
  const context: PublisherContext = { app, holder: randomUUID(), outbound, recordMetrics, signal: ending.signal }
  const runners = new Map<string, Runner>()
  /** The teams whose destinations this process may hold. */
  const teams = new Set<string>()
  let renewedAt = 0
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> | undefined

  async function poll() {
    const { holder } = context
    if (performance.now() - renewedAt > RENEW_EVERY_MS) {
      await inParallel(teams, TEAMS_AT_ONCE, async (team_id) => {
        if (!(await store.renewLeases(app.db, team_id, holder, LEASE_SECONDS))) teams.delete(team_id)
      })
      renewedAt = performance.now()
    }
    for (const free of await store.listFreeDestinations(app.db, CLAIM_LIMIT)) await claim(free)
    const now = app.wall()
    // Read before the rows: those of a runner that is publishing may be outdated at once.
    const busy = new Set([...runners].filter(([, runner]) => runner.running).map(([name]) => name))
    const rows = new Map((await listHeld()).map((row) => [runnerName(row), row]))
    for (const [name, runner] of runners) if (runner.isOver || rows.get(name)?.revision !== runner.revision) endRunner(name, runner)
    for (const [name, row] of rows) if (row.is_behind && !busy.has(name) && !(row.retry_at && row.retry_at > now)) startRunner(name, row)
  }

  const listHeld = async () => (teams.size ? store.listHeldDestinations(app.db, context.holder) : [])

  async function claim({ team_id, destination }: Parameters<typeof store.claimDestination>[1]) {
    const { holder } = context
    // Remembered before, because the claim may commit although its response is lost.
    teams.add(team_id)
    if (await store.claimDestination(app.db, { team_id, destination }, holder, LEASE_SECONDS))
      app.log.info({ team_id, destination, holder }, 'pipeline claimed')
  }

  function startRunner(name: string, row: store.HeldDestination) {
    const runner = runners.get(name) ?? { revision: row.revision, position: row.after_no, isOver: false }
    if (runner.isOver || stopping) return
    // Another process may have held the destination and moved its position, or a failover may have moved it back.
    runner.position = row.after_no
    runners.set(name, runner)
    runner.running = publishPending(context, runner, row)
      .catch((error) => {
        onError(error)
        runner.isOver = true
      })
      .finally(() => {
        runner.running = undefined
      })
  }

  /** The destination stays claimed until its events in flight are done, so that the next holder does not overtake them. */
  function endRunner(name: string, runner: Runner) {
    runner.isOver = true
    runner.ended ??= drainAndClose(runner)
      .catch(onError)
      .finally(() => runners.delete(name))
  }

  async function pollNow() {
    if (stopping) return
    clearTimeout(timer)
    polling ??= poll()
      .catch(onError)
      .finally(() => {
        polling = undefined
        if (!stopping && teams.size) timer = setTimeout(pollNow, POLL_MS)
      })
    await polling
  }

  return {
    job: { name: 'claim pipelines', search: store.searchFreeDestinations, run: pollNow },
    async stop() {
      stopping = true
      clearTimeout(timer)
      const all = [...runners]
      for (const [name, runner] of all) endRunner(name, runner)
      ending.abort()
      await polling
      await Promise.all(all.map(([, { ended }]) => ended))
      await inParallel(teams, TEAMS_AT_ONCE, (team_id) => store.releaseDestinations(app.db, team_id, context.holder)).catch(onError)
    },
  }
}

/** Events in flight may still be confirmed, within a short time limit. */
async function drainAndClose(runner: Runner) {
  await Promise.race([runner.running, pause(DRAIN_TIMEOUT_MS, undefined, { ref: false })])
  await closeDestination(runner)
  await runner.running
  // The destination may have been opened only after the stop began.
  await closeDestination(runner)
}

/** A pipeline that was deleted and recreated is a different one. */
const runnerName = ({ team_id, destination, created_at }: store.HeldDestination) => `${team_id} ${destination} ${created_at}`
