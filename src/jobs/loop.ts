import { appOf, type Service } from '../platform/app.ts'
import { SECOND } from '../platform/time.ts'
import type { Job } from './index.ts'

type Loop = {
  stop(): Promise<void>
  has(name: string): boolean
  wake(name: string, about?: Iterable<string>): void
  wakeSoon(name: string, about?: Iterable<string>): void
}

/** A job that finds nothing runs less and less often, down to this, unless it says otherwise. */
const IDLE_MS = 5 * SECOND

/** Runs each job at its interval. A failed job is logged and retried. A crash loses no work, because the tables hold it. */
export function startJobs(service: Service, jobs: Job[], onFailure: (job: string, error: unknown) => void): Loop {
  let stopping = false
  const runs = new Map(jobs.map((job) => [job.name, startRuns(job)]))

  function startRuns(job: Job) {
    const subjects = new Set<string>()
    const idleMs = Math.max(job.everyMs, job.idleMs ?? IDLE_MS)
    let waitMs = job.everyMs
    let running: Promise<void> | undefined
    let wakeAgain: 'now' | 'soon' | undefined
    let timer: NodeJS.Timeout | undefined

    async function run() {
      const result = await runBatches(job, subjects).catch((error) => onFailure(job.name, error))
      waitMs = result === false ? Math.min(2 * waitMs, idleMs) : job.everyMs
      running = undefined
      // The job may have been past the new work when it was woken, so it runs once more.
      if (wakeAgain) waitMs = job.everyMs
      schedule(wakeAgain === 'now' ? 0 : waitMs)
      wakeAgain = undefined
    }
    function schedule(ms: number) {
      clearTimeout(timer)
      if (!stopping) timer = setTimeout(start, ms)
    }
    function start() {
      clearTimeout(timer)
      running = run()
    }
    start()

    return {
      wake(about: Iterable<string>) {
        for (const subject of about) subjects.add(subject)
        if (running) wakeAgain = 'now'
        else if (!stopping) start()
      },
      /** Ends the slower polling of a job that has found nothing for a while. */
      wakeSoon(about: Iterable<string>) {
        for (const subject of about) subjects.add(subject)
        if (running) wakeAgain ??= 'soon'
        else if (waitMs > job.everyMs) {
          waitMs = job.everyMs
          schedule(waitMs)
        }
      },
      async stop() {
        clearTimeout(timer)
        await running
      },
    }
  }

  async function runBatches(job: Job, subjects: Set<string>) {
    let hadMore = false
    for (;;) {
      const result = stopping || (await job.run(appOf(service), subjects))
      if (stopping || result !== true) return hadMore ? undefined : result
      hadMore = true
    }
  }

  return {
    has: (name) => runs.has(name),
    wake: (name, about = []) => runs.get(name)?.wake(about),
    wakeSoon: (name, about = []) => runs.get(name)?.wakeSoon(about),
    async stop() {
      stopping = true
      await Promise.all([...runs.values()].map((run) => run.stop()))
    },
  }
}
