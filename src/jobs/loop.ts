import { appOf, type Service } from '../platform/app.ts'
import { combineSearches } from '../platform/db/due-work.ts'
import { SECOND } from '../platform/time.ts'
import type { Job } from './job.ts'

type Loop = {
  stop(): Promise<void>
  /** Runs a job now, if this process has it. */
  wake(name: string): void
}

const SEARCH_EVERY_MS = SECOND
/** A service without work searches less often. */
const SEARCH_QUIETLY_EVERY_MS = 2 * SECOND
const QUIET_AFTER_SEARCHES = 20

/**
 * Runs each job at its interval, or when its search finds work. All searches are one statement, because an idle service would
 * spend most of its time on asking. A failed job is logged and retried. A crash loses no work, because the tables hold it.
 */
export function startJobs(service: Service, jobs: Job[], onFailure: (job: string, error: unknown) => void): Loop {
  const ending = new AbortController()
  const timers = new Map<Job, NodeJS.Timeout>()
  const running = new Map<Job, Promise<void>>()
  /** Jobs that were woken while they ran. They may already be past the new work. */
  const woken = new Set<Job>()
  const searched = jobs.filter((job) => job.search !== undefined)
  const findWork = combineSearches(searched)

  let searchesWithoutWork = 0
  const searchJob: Job = {
    name: 'find due work',
    get everyMs() {
      return searchesWithoutWork < QUIET_AFTER_SEARCHES ? SEARCH_EVERY_MS : SEARCH_QUIETLY_EVERY_MS
    },
    async run({ db, wall }) {
      // If the statement fails, each job searches for itself, so that one search cannot stop the other jobs.
      const found = await findWork(db, wall()).catch((error) => void onFailure(searchJob.name, error))
      searchesWithoutWork = found?.length === 0 ? searchesWithoutWork + 1 : 0
      for (const job of searched) if (!running.has(job) && (!found || found.includes(job.name))) startJob(job)
    },
  }

  const runJob = async (job: Job) => {
    try {
      while (!ending.signal.aborted && (await job.run({ ...appOf(service), signal: ending.signal })) === true);
    } catch (error) {
      onFailure(job.name, error)
    }
    running.delete(job)
    schedule(job)
  }
  const startJob = (job: Job) => {
    woken.delete(job)
    clearTimeout(timers.get(job))
    running.set(job, runJob(job))
  }
  const schedule = (job: Job) => {
    clearTimeout(timers.get(job))
    const waitMs = woken.has(job) ? 0 : job.everyMs
    if (!ending.signal.aborted && waitMs !== undefined)
      timers.set(
        job,
        setTimeout(() => startJob(job), waitMs),
      )
  }
  for (const job of [...jobs.filter(({ everyMs }) => everyMs), ...(searched.length ? [searchJob] : [])]) startJob(job)

  return {
    wake(name) {
      const job = jobs.find((job) => job.name === name)
      if (!job || ending.signal.aborted) return
      searchesWithoutWork = 0
      if (running.has(job)) woken.add(job)
      else startJob(job)
    },
    async stop() {
      ending.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}
