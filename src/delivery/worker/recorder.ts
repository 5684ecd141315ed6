import { isDatabaseUnavailable, isDeadlock, isLockTimeout, isPoolerError, isStatementTimeout } from '../../platform/db/errors.ts'
import { SECOND } from '../../platform/time.ts'
import { type Change, recordChanges } from '../webhooks/sending/record.ts'
import type { WebhookRun } from '../webhooks/sending/run/webhook-run.ts'
import type { TeamContext } from './team-run.ts'

const RETRY_MS = SECOND / 10
/** Outcomes that cannot be recorded for this long are dropped, and their messages are sent again. */
const TIMEOUT_MS = 60 * SECOND

type Parts = {
  team_id: string
  runs: Map<string, WebhookRun>
  /** Drops what these hold. They start again at what is stored, at once or after a while. */
  reopen(runs: WebhookRun[], after?: 'a while'): void
}

type Taken = { run: WebhookRun; change: Change }

const isTransient = (error: unknown) => isDatabaseUnavailable(error) || isStatementTimeout(error) || isPoolerError(error)

/** Records the outcomes of a team's webhooks, many in one statement and one statement at a time. */
export function newRecorder(context: TeamContext, { team_id, runs, reopen }: Parts) {
  const { app, recordWaitMs, recordSent, onError } = context
  let recording: Promise<void> | undefined
  let pausing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isWanted = false
  let isClosed = false

  function recordSoon(isUrgent: boolean) {
    if (recording) isWanted = true
    else if (isUrgent) start()
    else timer ??= setTimeout(start, recordWaitMs)
  }

  function start() {
    clearTimeout(timer)
    timer = undefined
    if (isClosed || recording) return
    if (pausing) {
      isWanted = true
      return
    }
    isWanted = false
    recording = record().finally(() => {
      recording = undefined
      if (isWanted) recordSoon(false)
    })
  }

  async function record() {
    const taken = [...runs.values()].flatMap((run): Taken[] => {
      const state = run.state()
      const change = state && run.takeChange()
      return change ? [{ run, change: { ...change, state } }] : []
    })
    if (taken.length) await recordAll(taken)
  }

  /** A change that the database refuses holds up no others, and its messages are sent again after a while. */
  async function recordAll(taken: Taken[]): Promise<void> {
    try {
      const states = await recordWithRetry(taken.map(({ change }) => change))
      if (!isClosed) confirm(taken, states)
    } catch (error) {
      const [first, ...others] = taken as [Taken, ...Taken[]]
      if (others.length) for (const one of taken) await recordAll([one])
      else if (!isClosed) {
        onError(error)
        reopen([first.run], 'a while')
      }
    }
  }

  function confirm(taken: Taken[], states: Change['state'][] | undefined) {
    if (!states) return reopen(taken.map(({ run }) => run))
    for (const { run, change } of taken) {
      run.confirm()
      const state = states.find(({ id }) => id === run.webhook_id)
      if (state) run.setState(state)
      recordSent(change.attempts)
      run.wake()
    }
  }

  async function recordWithRetry(batch: Change[]) {
    const giveUpAt = performance.now() + TIMEOUT_MS
    for (;;)
      try {
        return await recordChanges(app, team_id, batch)
      } catch (error) {
        const isContended = isDeadlock(error) || isLockTimeout(error)
        if (!isContended && !isTransient(error)) throw error
        if (!isContended) onError(error)
        if (isClosed || performance.now() > giveUpAt) return undefined
        await new Promise((done) => setTimeout(done, RETRY_MS))
      }
  }

  return {
    recordSoon,
    /** Records until nothing is left. */
    async recorded() {
      while (!isClosed && (recording || timer || isWanted)) {
        start()
        await (recording ?? pausing)
      }
    },
    /** Runs work while nothing is recorded. */
    async pauseFor(work: () => Promise<void>) {
      const { promise, resolve } = Promise.withResolvers<void>()
      pausing = promise
      try {
        await recording
        if (!isClosed) await work()
      } finally {
        pausing = undefined
        resolve()
        if (isWanted) recordSoon(false)
      }
    },
    isBusy: () => Boolean(recording || timer || isWanted),
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
