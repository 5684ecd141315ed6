import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startJobs } from '../../src/jobs/loop.ts'
import type { Service } from '../../src/platform/app.ts'
import { SECOND } from '../../src/platform/time.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Starts a job that runs every second and returns the next of the results, and the last one from then on. */
async function startJob(results: unknown[], runMs = 0) {
  let runs = 0
  const run = async () => {
    const result = results.length > 1 ? results.shift() : results[0]
    runs++
    if (runMs) await new Promise((done) => setTimeout(done, runMs))
    return result
  }
  const loop = startJobs({} as Service, [{ name: 'search', run, everyMs: SECOND }], () => {})
  await vi.advanceTimersByTimeAsync(0)
  runs = 0
  return {
    ...loop,
    /** The number of runs since the last call, and within this time. */
    async runsWithin(ms: number) {
      await vi.advanceTimersByTimeAsync(ms)
      const counted = runs
      runs = 0
      return counted
    },
  }
}

test('a job runs at its interval, and again at once while there may be more', async () => {
  const { runsWithin, stop } = await startJob([undefined, true, true, false])
  expect(await runsWithin(SECOND)).toBe(3)
  expect(await runsWithin(10 * SECOND)).toBe(10)
  await stop()
})

test('a woken job runs at once, and its interval begins again', async () => {
  const { runsWithin, wake, stop } = await startJob([false])
  await runsWithin(SECOND / 2)
  wake('search')
  expect(await runsWithin(0)).toBe(1)
  expect(await runsWithin(SECOND - 1)).toBe(0)
  expect(await runsWithin(1)).toBe(1)
  await stop()
})

test('a job that is woken while it runs, runs once more', async () => {
  const { runsWithin, wake, stop } = await startJob([false], 10)
  await runsWithin(10)
  wake('search')
  wake('search')
  wake('search')
  expect(await runsWithin(50)).toBe(2)
  await Promise.all([stop(), runsWithin(10)])
})

/** A database without work. Calls `onStatement` for each statement. */
const emptyDatabase = (onStatement: () => void) =>
  new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: onStatement,
  })

test('without work, jobs are searched for every two seconds, and every second again after a wake-up', async () => {
  let searches = 0
  const db = emptyDatabase(() => searches++)
  const service = { db, wall: () => '2026-01-01T00:00:00.000Z' } as unknown as Service
  const loop = startJobs(service, [{ name: 'due', search: () => sql`select 1`, run: async () => {} }], () => {})
  const searchesWithin = async (ms: number) => {
    const before = searches
    await vi.advanceTimersByTimeAsync(ms)
    return searches - before
  }
  await searchesWithin(0)
  expect(await searchesWithin(10 * SECOND)).toBe(10)
  await searchesWithin(20 * SECOND)
  expect(await searchesWithin(20 * SECOND)).toBe(10)
  loop.wake('due')
  await searchesWithin(2 * SECOND)
  expect(await searchesWithin(10 * SECOND)).toBe(10)
  await loop.stop()
})
