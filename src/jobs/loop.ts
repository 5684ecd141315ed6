import { appOf, type Service } from '../platform/app.ts'
import type { Job } from './job.ts'

type Loop = { stop(): Promise<void>; wake(name: string, about?: Iterable<string>): void }

/** Runs each job at its interval. A failed job is logged and retried. A crash loses no work, because the tables hold it. */
export function startJobs(service: Service, jobs: Job[], onFailure: (job: string, error: unknown) => void): Loop {
  let stopping = false
  const timers = new Map<Job, NodeJS.Timeout>()
  const running = new Map<Job, Promise<void>>()
  const woken = new Set<Job>()
  const subjects = new Map(jobs.map((job) => [job, new Set<string>()]))

  const runJob = async (job: Job) => {
    try {
      while (!stopping && (await job.run(appOf(service), subjects.get(job))) === true);
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
    if (!stopping)
      timers.set(
        job,
        setTimeout(() => startJob(job), woken.has(job) ? 0 : job.everyMs),
      )
  }
  for (const job of jobs) startJob(job)

  return {
    /** A running job may already be past the new work, so it runs once more. */
    wake(name, about = []) {
      const job = jobs.find((job) => job.name === name)
      if (!job || stopping) return
      for (const subject of about) subjects.get(job)?.add(subject)
      if (running.has(job)) woken.add(job)
      else startJob(job)
    },
    async stop() {
      stopping = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}
