import type { Position } from '../../contract/delivery/log-rows.ts'
import { isLockTimeout } from '../../platform/db/errors.ts'
import { SECOND } from '../../platform/time.ts'
import { clearDue, moveEvents, releaseTeam } from '../events/access.ts'
import { listFormats } from '../formats/settings.ts'
import {
  type DestinationRun,
  listTerms,
  openDestinationRun,
  type PublishingContext,
  takeDestinations,
} from '../pipelines/publishing/destination-run.ts'
import type { NewAttempt } from '../webhooks/sending/changes.ts'
import type { SendingContext } from '../webhooks/sending/context.ts'
import { findErased, type LoadedWebhook, takeWebhooks } from '../webhooks/sending/load.ts'
import { openWebhookRun, type WebhookRun } from '../webhooks/sending/run/webhook-run.ts'
import { moveBound } from './move-bound.ts'
import { newRecorder } from './recorder.ts'
import { openTeamLog } from './team-log.ts'

/** Events moved at once. */
const MOVE_LIMIT = 1000
const LOCKED_RETRY_MS = 5
/** What the database has refused to record is sent again after this long. */
const REFUSED_MS = 60 * SECOND
/** How often positions that only skipped events are recorded. */
const SKIPPED_MS = 60 * SECOND

export type TeamContext = SendingContext &
  PublishingContext & {
    /** A busy team's events wait this long for others, so that they share a move. */
    moveGapMs: number
    /** How long outcomes wait for others to be recorded with. */
    recordWaitMs: number
    /** A team without work is given up after this long. */
    idleMs: number
    worker(): string
    /** The IDs of the live workers, read at this time or later. */
    live(since?: number): Promise<string[]>
    recordSent(attempts: NewAttempt[]): void
  }

export type TeamRun = ReturnType<typeof openTeamRun>

/** Owns a team: moves its events to the log and delivers them, until another worker owns it or it has been idle for long. */
export function openTeamRun(context: TeamContext, team_id: string, onClosed: (isOwnedByAnother: boolean) => void) {
  const { app } = context
  const worker = context.worker()
  const team = openTeamLog(app, team_id)
  const runs = new Map<string, WebhookRun>()
  let destinations: DestinationRun[] = []
  const sinks = () => [...runs.values(), ...destinations]
  const recorder = newRecorder(context, { team_id, runs, reopen })
  let changes: number | undefined
  /** The end of the log for the sinks. */
  let seen: Position | undefined
  let isClosed = false
  const openedAt = performance.now()
  let activeAt = openedAt
  let skippedAt = performance.now()

  // Moving

  let moving: Promise<void> | undefined
  let moveAgain = false
  let movedAt = Number.NEGATIVE_INFINITY
  let moveTimer: NodeJS.Timeout | undefined
  const bound = moveBound()

  /** A search found the team in the outbox, perhaps for a row that no wake-up named. */
  function wake({ isFound = false } = {}) {
    if (isFound) bound.reset()
    activeAt = performance.now()
    if (moving) moveAgain = true
    else scheduleMove(Math.max(0, movedAt + context.moveGapMs - performance.now()))
  }

  function scheduleMove(ms: number) {
    if (isClosed || moving) return
    if (ms > 0) moveTimer ??= setTimeout(startMove, ms)
    else startMove()
  }

  function startMove() {
    clearTimeout(moveTimer)
    moveTimer = undefined
    if (isClosed || moving || !context.isHeld()) return
    moveAgain = false
    let retryMs: number | undefined
    moving = move()
      .catch((error: unknown) => {
        retryMs = isLockTimeout(error) ? LOCKED_RETRY_MS : SECOND
        if (!isLockTimeout(error)) context.onError(error)
      })
      .finally(() => {
        moving = undefined
        movedAt = performance.now()
        if (retryMs !== undefined) scheduleMove(retryMs)
        else if (moveAgain) scheduleMove(context.moveGapMs)
      })
  }

  async function move() {
    // A worker that began a moment ago may own the team.
    const live = await context.live(changes === undefined ? openedAt : undefined)
    const moved = await moveEvents(app.db, team_id, { worker, live, fromSeq: bound.current(), limit: MOVE_LIMIT })
    if (isClosed) return
    if (moved?.owner !== worker) return close(moved !== undefined)
    const isCut = moved.events.length === MOVE_LIMIT
    bound.note({ ...moved, isCut })
    if (moved.events.length) activeAt = performance.now()
    if (isCut) moveAgain = true
    if (hasLost(moved)) dropSinks()
    team.append(moved.events, moved.end)
    seen ??= moved.end
    // A changed filter holds from the first of these events on. Nothing is recorded meanwhile, so what is loaded lacks exactly the
    // changes that are not recorded.
    if (moved.changes !== changes) await recorder.pauseFor(() => load(moved.changes))
    seen = moved.end
    for (const sink of sinks()) sink.wake()
  }

  /** A failover lost the end of the log, so its positions are used again. */
  const hasLost = ({ events, end }: { events: unknown[]; end: Position }) => end.no - events.length < (team.end()?.no ?? 0)

  /** What is stored is loaded again. */
  function dropSinks() {
    for (const run of runs.values()) endRun(run)
    for (const destination of destinations) destination.close()
    destinations = []
    changes = undefined
    seen = undefined
    bound.reset()
  }

  // Loading

  let isLoaded = false

  async function load(version: number) {
    if (isLoaded) await forgetErased()
    isLoaded = true
    const webhooks = await takeWebhooks(app, team_id, { worker, held: [...runs.values()].map((run) => run.held()) })
    for (const [id, run] of runs) if (!webhooks.some(({ cursor }) => cursor.webhook_id === id)) endRun(run)
    for (const webhook of webhooks) if (!isClosed) openOrRefresh(webhook)
    await reopenDestinations()
    changes = version
    await clearDue(app.db, team_id, worker, version)
  }

  function openOrRefresh(webhook: LoadedWebhook) {
    const { cursor } = webhook
    const known = runs.get(cursor.webhook_id)
    const held = known?.held()
    // Otherwise another worker had it in between, or it was moved.
    const isSame = held?.term === cursor.term && held.flush === cursor.flush
    if (known && !isSame) endRun(known)
    const run = known && isSame ? known : openWebhookRun(context, log, cursor)
    runs.set(cursor.webhook_id, run)
    run.refresh(webhook)
  }

  /** The log is read again if the keys of users are gone of whom something is held. */
  async function forgetErased() {
    team.forget()
    const erased = await findErased(
      app,
      team_id,
      [...runs.values()].flatMap((run) => run.heldUsers()),
    )
    if (erased.size) for (const run of runs.values()) run.forgetUsers(erased)
  }

  /** Those that nobody has changed go on. */
  async function reopenDestinations() {
    const terms = await listTerms(app.db, team_id)
    const isSame = (run: DestinationRun) => terms.some(({ destination, term }) => destination === run.destination && term === run.term)
    for (const run of destinations) if (!isSame(run)) run.close()
    destinations = destinations.filter(isSame)
    const rows = await takeDestinations(
      app.db,
      team_id,
      terms.map(({ destination }) => destination).filter((name) => !destinations.some(({ destination }) => destination === name)),
    )
    const formats = rows.length ? await listFormats(app, team_id) : undefined
    if (!isClosed) destinations.push(...rows.map((row) => openDestinationRun(context, log, row, formats?.get(row.destination) ?? [])))
  }

  function endRun(run: WebhookRun) {
    run.close()
    if (runs.get(run.webhook_id) === run) runs.delete(run.webhook_id)
  }

  let reopenTimer: NodeJS.Timeout | undefined

  /** Drops what these hold and starts again at what is stored, at once or after a while. */
  function reopen(ended: WebhookRun[], after?: 'a while') {
    for (const run of ended) endRun(run)
    if (after) {
      reopenTimer ??= setTimeout(reopen, REFUSED_MS, [])
      return
    }
    reopenTimer = undefined
    changes = undefined
    moveAgain = true
    scheduleMove(0)
  }

  // Life

  const log = {
    team_id,
    end: () => seen as Position,
    read: (after: Position, limits: Parameters<typeof team.read>[1]) => team.read(after, { end: seen as Position, ...limits }),
    recordSoon(isUrgent: boolean) {
      activeAt = performance.now()
      recorder.recordSoon(isUrgent)
    },
    recorded: recorder.recorded,
  }

  function dueAt() {
    const times = sinks()
      .map((sink) => sink.dueAt())
      .filter((at) => at !== null)
    return times.sort()[0] ?? null
  }

  /** Positions that only skipped events are recorded rarely, so that metrics and retention see them. */
  function recordSkipped() {
    if (performance.now() - skippedAt < SKIPPED_MS) return
    skippedAt = performance.now()
    for (const run of runs.values()) run.noteIdle()
  }

  /** Sends what has become due, and gives the team up if it has been idle. */
  async function tick() {
    const due = dueAt()
    if (due && due <= app.wall()) for (const sink of sinks()) sink.wake()
    recordSkipped()
    if (isClosed || moving || reopenTimer || changes === undefined || performance.now() - activeAt < context.idleMs) return
    if (!sinks().every((sink) => sink.isIdle())) return
    for (const run of runs.values()) run.noteIdle()
    await recorder.recorded()
    if (isClosed || moving) return
    if (await releaseTeam(app.db, team_id, { worker, changes, no: team.end().no, due_at: dueAt() })) close(false)
  }

  function close(isOwnedByAnother: boolean) {
    if (isClosed) return
    isClosed = true
    clearTimeout(moveTimer)
    clearTimeout(reopenTimer)
    recorder.close()
    for (const run of runs.values()) endRun(run)
    for (const destination of destinations) destination.close()
    onClosed(isOwnedByAnother)
  }

  return {
    team_id,
    wake,
    tick,
    dueAt,
    resume: () => {
      for (const run of runs.values()) run.wake()
    },
    /** Waits until no request is in flight, records their outcomes and drops everything. */
    async stop(untilMs: number) {
      await moving
      await Promise.all(destinations.map((destination) => destination.stop(untilMs)))
      while (performance.now() < untilMs && [...runs.values()].some((run) => run.countInFlight() > 0))
        await new Promise((done) => setTimeout(done, 10))
      for (const run of runs.values()) run.noteIdle()
      await Promise.race([recorder.recorded(), new Promise((done) => setTimeout(done, Math.max(0, untilMs - performance.now())))])
      close(false)
    },
    /** Whether it does more than wait for responses. */
    isBusy: () => Boolean(moving || moveTimer || recorder.isBusy() || sinks().some((sink) => sink.isBusy())),
    close: () => close(false),
  }
}
