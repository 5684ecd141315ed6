import type { App } from '../app.ts'
import type { Job } from './index.ts'

type Loop = { stop(): Promise<void> }

/** Calls each job at its pace. A job that fails is logged and tried again; a crash loses nothing, because the work is in the tables. */
export function startJobs(app: App, jobs: Job[], failed: (job: string, error: unknown) => void): Loop {
  let stopping = false
  const timers = new Map<Job, NodeJS.Timeout>()
  const running = new Map<Job, Promise<void>>()

  const turn = async (job: Job) => {
    try {
      while (!stopping && (await job.run(app)) === true);
    } catch (error) {
      failed(job.name, error)
    }
    running.delete(job)
    schedule(job)
  }
  const schedule = (job: Job) => {
    if (!stopping)
      timers.set(
        job,
        setTimeout(() => running.set(job, turn(job)), job.everyMs),
      )
  }
  for (const job of jobs) running.set(job, turn(job))

  return {
    async stop() {
      stopping = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}
