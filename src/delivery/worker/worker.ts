import { appOf, type Service } from '../../platform/app.ts'
import type { Search } from '../../platform/db/due-work.ts'
import type { Sender } from '../../platform/outbound/send.ts'
import { SECOND } from '../../platform/time.ts'
import { disown, listOwned } from '../events/access.ts'
import type { ToFhir } from '../formats/body.ts'
import type { OutboundOptions } from '../pipelines/destinations/destination.ts'
import type { RecordMetrics } from '../pipelines/publishing/destination-run.ts'
import type { NewAttempt } from '../webhooks/sending/changes.ts'
import { newShares } from '../webhooks/sending/shares.ts'
import * as store from './store-workers.ts'
import { openTeamRun, type TeamContext, type TeamRun } from './team-run.ts'
import { newWorkerLease } from './worker-lease.ts'

const MAX_REQUESTS = 256
const MAX_MESSAGES = 1024
const MAX_BYTES = 64 * 1024 * 1024
const REQUEST_TIMEOUT_MS = 15 * SECOND
const TICK_MS = SECOND
const MOVE_GAP_MS = 8
const RECORD_WAIT_MS = 40
const IDLE_MS = 30 * SECOND
/** Wake-ups of a team that another worker owns are ignored for this long. */
const FOREIGN_MS = SECOND
const LIVE_MS = SECOND / 2
const STOP_TIMEOUT_MS = 10 * SECOND

type WorkerOptions = {
  send: Sender['post']
  onError(error: unknown): void
  outbound: OutboundOptions
  toFhir?: ToFhir
  recordSent?(attempts: NewAttempt[]): void
  recordPublished?: RecordMetrics
  idleMs?: number
  /** No other process delivers from this database, so what is owned at the start belongs to dead workers. */
  isAlone?: boolean
}

/** Moves events to the logs of teams and delivers them, until it is stopped. Without its lease it sends nothing. */
export async function startWorker(service: Service, options: WorkerOptions) {
  const { send, outbound, toFhir, onError, recordSent = () => {}, recordPublished = () => {}, idleMs = IDLE_MS, isAlone } = options
  const app = appOf(service)
  const teams = new Map<string, TeamRun>()
  const foreignUntil = new Map<string, number>()
  let worker = ''
  let isStopping = false
  let live = { ids: Promise.resolve([] as string[]), at: Number.NEGATIVE_INFINITY }

  const context: TeamContext = {
    app,
    toFhir,
    send,
    timeoutMs: REQUEST_TIMEOUT_MS,
    moveGapMs: MOVE_GAP_MS,
    recordWaitMs: RECORD_WAIT_MS,
    idleMs,
    isHeld: () => lease.isHeld() && !isStopping,
    requests: newShares(MAX_REQUESTS, resume),
    messages: newShares(MAX_MESSAGES, resume),
    bytes: newShares(MAX_BYTES, resume),
    worker: () => worker,
    live(since = performance.now() - LIVE_MS) {
      if (live.at < since) live = { ids: store.listLiveWorkers(app.db), at: performance.now() }
      live.ids.catch(forgetLive)
      return live.ids
    },
    outbound,
    recordSent,
    recordPublished,
    onError,
  }

  function forgetLive() {
    live.at = Number.NEGATIVE_INFINITY
  }

  /** Teams that wait for their share. */
  function resume() {
    for (const team of teams.values()) team.resume()
  }

  function wake(team_ids: Iterable<string>, options?: { isFound: boolean }) {
    if (!lease.isHeld() || isStopping) return
    for (const team_id of team_ids) {
      const team = teams.get(team_id)
      if (team) team.wake(options)
      else if ((foreignUntil.get(team_id) ?? 0) < performance.now()) open(team_id).wake()
    }
  }

  function open(team_id: string) {
    const run = openTeamRun(context, team_id, (isOwnedByAnother) => {
      if (teams.get(team_id) === run) teams.delete(team_id)
      if (isOwnedByAnother) foreignUntil.set(team_id, performance.now() + FOREIGN_MS)
    })
    teams.set(team_id, run)
    return run
  }

  function dropAll() {
    for (const team of [...teams.values()]) team.close()
  }

  const lease = newWorkerLease({
    db: app.db,
    onAcquired(id) {
      dropAll()
      worker = id
      // The ID is the owner of teams in the tables.
      app.log.info({ worker }, 'delivery started')
      forgetLive()
      void poll().catch(onError)
    },
    onError,
  })

  /** Finds teams that need a worker and that no wake-up named. */
  async function poll() {
    if (!lease.isHeld() || isStopping) return
    wake(await store.listTeamsWithWork(app.db, app.wall()), { isFound: true })
  }

  async function tick() {
    for (const [team_id, until] of foreignUntil) if (until < performance.now()) foreignUntil.delete(team_id)
    for (const team of [...teams.values()]) await team.tick().catch(onError)
  }

  async function disownAll() {
    for (const team_id of await listOwned(app.db, worker)) await disown(app.db, team_id, worker)
  }

  const ticker = setInterval(() => void tick(), TICK_MS)
  if (isAlone) await store.deleteWorkers(app.db)
  await lease.acquire()

  return {
    job: { name: 'find logs with work', search: store.searchWork as Search, run: poll },
    wake: (team_ids: Iterable<string>) => wake(team_ids),
    /** What cannot be recorded in time is sent again by another worker. */
    async stop() {
      isStopping = true
      clearInterval(ticker)
      const untilMs = performance.now() + STOP_TIMEOUT_MS
      await Promise.all([...teams.values()].map((team) => team.stop(untilMs)))
      await disownAll().catch(onError)
      await lease.end()
    },
  }
}
