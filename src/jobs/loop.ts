import { appOf, type Service } from '../platform/app.ts'
import { SECOND } from '../platform/time.ts'
import type { Job } from './job.ts'

type Wake = (name: string, about?: Iterable<string>) => void

type Loop = {
  stop(): Promise<void>
  /** Runs a job now, for these subjects if it has any. */
  wake: Wake
  /** The same within SOON_MS, so that one run serves many wake-ups. */
  wakeSoon: Wake
}

const SOON_MS = SECOND / 10

/** Runs each job at its interval. A failed job is logged and retried. A crash loses no work, because the tables hold it. */
export function startJobs(service: Service, jobs: Job[], onFailure: (job: string, error: unknown) => void): Loop {
  let stopping = false
  const timers = new Map<Job, NodeJS.Timeout>()
  const running = new Map<Job, Promise<void>>()
  /** How soon a job that is running, or that runs soon, has to run again. */
  const woken = new Map<Job, number>()
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
    clearTimeout(timers.get(job))
    if (!stopping)
      timers.set(
        job,
        setTimeout(() => startJob(job), woken.get(job) ?? job.everyMs),
      )
  }
  const wakeWithin =
    (ms: number): Wake =>
    (name, about = []) => {
      const job = jobs.find((job) => job.name === name)
      if (!job || stopping) return
      for (const subject of about) subjects.get(job)?.add(subject)
      if ((woken.get(job) ?? job.everyMs) <= ms) return
      woken.set(job, ms)
      // A running job may already be past the new work, so it runs once more.
      if (running.has(job)) return
      if (ms) schedule(job)
      else startJob(job)
    }
  for (const job of jobs) startJob(job)

  return {
    wake: wakeWithin(0),
    wakeSoon: wakeWithin(SOON_MS),
    async stop() {
      stopping = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}
