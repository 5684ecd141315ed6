import { relative } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, expect } from 'vitest'
import { cleanUp } from './at-end.ts'
import { failOnContacts, guardContacts } from './contacts.ts'
import { SEED, seedFile, seedNumber } from './seeded.ts'

type Task = { result?: { state?: string }; tasks?: Task[] }

// Test files share their worker's modules, so whatever belongs to one file begins here.
const file = relative(process.cwd(), expect.getState().testPath as string)
seedFile(file)
// A failing property names this seed and the path to its counterexample.
fc.configureGlobal({ seed: seedNumber() })

await guardContacts()
afterEach(failOnContacts)

const hasFailed = ({ result, tasks = [] }: Task): boolean => result?.state === 'fail' || tasks.some(hasFailed)

// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the requested fixtures from this pattern.
afterAll(async ({}, suite) => {
  if (hasFailed(suite)) console.error(`The values of ${file} came from TEST_SEED=${SEED}.`)
  await cleanUp()
  failOnContacts()
})
