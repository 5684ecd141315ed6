import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Job } from '../../src/jobs/index.ts'
import { startJobs } from '../../src/jobs/loop.ts'
import type { Service } from '../../src/platform/app.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const SECOND = 1000

/** Starts a job that returns the next of the results, and the last one from then on. */
async function startJob(job: Pick<Job, 'everyMs' | 'idleMs'>, results: unknown[]) {
  let runs = 0
  const run = async () => results[Math.min(runs++, results.length - 1)]
  const loop = startJobs({} as Service, [{ name: 'search', run, ...job }], () => {})
  await vi.advanceTimersByTimeAsync(0)
  return {
    ...loop,
    runs: () => runs,
    /** How often the job runs within this time. */
    async runsWithin(ms: number) {
      const before = runs
      await vi.advanceTimersByTimeAsync(ms)
      return runs - before
    },
  }
}

test('a job that finds nothing runs less and less often', async () => {
  const { runsWithin, stop } = await startJob({ everyMs: SECOND / 10, idleMs: SECOND }, [false])
  expect(await runsWithin(SECOND)).toBe(2)
  expect(await runsWithin(10 * SECOND)).toBe(10)
  await stop()
})

test('a job that found something keeps its interval', async () => {
  const { runsWithin, stop } = await startJob({ everyMs: SECOND / 10, idleMs: SECOND }, [undefined])
  expect(await runsWithin(10 * SECOND)).toBe(100)
  await stop()
})

test('a job with a longer interval keeps it while nothing is due', async () => {
  const { runsWithin, stop } = await startJob({ everyMs: 60 * SECOND }, [false])
  expect(await runsWithin(600 * SECOND)).toBe(10)
  await stop()
})

test('a job that may have more runs again at once', async () => {
  const { runsWithin, stop } = await startJob({ everyMs: SECOND }, [undefined, true, true, false])
  expect(await runsWithin(SECOND)).toBe(3)
  await stop()
})

test('waking an idle job runs it at once, and waking it soon within its interval', async () => {
  const { runs, runsWithin, wake, wakeSoon, stop } = await startJob({ everyMs: SECOND / 10, idleMs: SECOND }, [false])
  await runsWithin(10 * SECOND)
  const before = runs()
  wake('search')
  expect(runs()).toBe(before + 1)
  await runsWithin(10 * SECOND)
  wakeSoon('search')
  expect(await runsWithin(SECOND / 10)).toBe(1)
  await stop()
})
