import { relative } from 'node:path'
import { afterAll, expect } from 'vitest'
import { SEED, seedFile } from './seeded.ts'

type Task = { result?: { state?: string }; tasks?: Task[] }

const file = relative(process.cwd(), expect.getState().testPath as string)
seedFile(file)

const hasFailed = ({ result, tasks = [] }: Task): boolean => result?.state === 'fail' || tasks.some(hasFailed)

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the requested fixtures from this pattern.
afterAll(({}, suite) => {
  if (hasFailed(suite)) console.error(`The values of ${file} came from TEST_SEED=${SEED}.`)
})
