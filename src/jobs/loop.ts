import { appOf, type Service } from '../platform/app.ts'
import type { Job } from './index.ts'

type Loop = { stop(): Promise<void>; wake(name: string): void }

/** Runs each job at its interval. A failed job is logged and retried. A crash loses no work, because the tables hold it. */
export function startJobs(service: Service, jobs: Job[], failed: (job: string, error: unknown) => void): Loop {
  let stopping = false
  const timers = new Map<Job, NodeJS.Timeout>()
  const running = new Map<Job, Promise<void>>()
  const woken = new Set<Job>()

  const turn = async (job: Job) => {
    try {
      while (!stopping && (await job.run(appOf(service))) === true);
    } catch (error) {
      failed(job.name, error)
    }
    running.delete(job)
    schedule(job)
  }
  const begin = (job: Job) => {
    woken.delete(job)
    clearTimeout(timers.get(job))
    running.set(job, turn(job))
  }
  const schedule = (job: Job) => {
    if (!stopping)
      timers.set(
        job,
        setTimeout(() => begin(job), woken.has(job) ? 0 : job.everyMs),
      )
  }
  for (const job of jobs) begin(job)

  return {
    /** A running job may already be past the new work, so it runs once more. */
    wake(name) {
      const job = jobs.find((job) => job.name === name)
      if (!job || stopping) return
      if (running.has(job)) woken.add(job)
      else begin(job)
    },
    async stop() {
      stopping = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}
