import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { jobs } from '../../src/jobs/index.ts'
import type { Job } from '../../src/jobs/job.ts'
import { startJobs } from '../../src/jobs/loop.ts'
import { combineSearches } from '../../src/platform/db/due-work.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/process.ts'
import { world } from '../support/world.ts'

const { app } = await world()

const finds = (is: boolean) => sql`select 1 where ${sql.lit(is)}`

/** Starts these jobs, and returns the names of those that ran and of those that failed. */
function start(searches: Record<string, () => ReturnType<typeof finds>>) {
  const [ran, failed] = [new Set<string>(), new Set<string>()]
  const started = Object.entries(searches).map(([name, search]): Job => ({ name, search, run: async () => void ran.add(name) }))
  const loop = startJobs(app, started, (name) => failed.add(name))
  atEnd(() => loop.stop())
  return { ran, failed }
}

test('a job runs only if its search finds work', async () => {
  const { ran, failed } = start({ idle: () => finds(false), busy: () => finds(true) })
  await eventually(async () => ran.has('busy'))
  expect([...ran]).toEqual(['busy'])
  expect([...failed]).toEqual([])
})

test('if the search fails, that is logged and every job searches for itself', async () => {
  const { ran, failed } = start({ healthy: () => finds(false), broken: () => sql`select missing from teams` })
  await eventually(async () => ran.size === 2)
  expect([...failed]).toEqual(['find due work'])
})

test('the searches of all jobs are one statement', async () => {
  const searched = jobs.flatMap(({ name, search }) => (search ? [{ name, search }] : []))
  const find = combineSearches(searched)
  const found = await find(app.db, app.wall())
  expect(searched.map(({ name }) => name)).toEqual(expect.arrayContaining(found))
})
