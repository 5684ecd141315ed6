import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import * as store from './store.ts'

const MOST = 2000

/** Tests by id and version. */
const labTestCache = declareCache(() => new Map<string, store.LabTestRow>())

/**
 * The tests that a team sees, with lab and markers. Putting one together costs more than all else that an order reads,
 * so it is kept until the test or the catalogue changes; which version counts is asked each time.
 */
export async function labTestsOf(app: App, team_id: string, ids: string[]): Promise<store.LabTestRow[]> {
  const tests = labTestCache(app)
  const wanted = await store.testVersions(app.db, team_id, ids)
  // What the call needs is its own: others may empty the memory while it waits.
  const here = new Map(wanted.map((one) => [one.id, tests.get(keyOf(one))]))
  const missing = wanted.filter(({ id }) => !here.get(id))
  if (tests.size + missing.length > MOST) tests.clear()
  if (missing.length) {
    const found = await store.findLabTests(
      app.db,
      team_id,
      missing.map(({ id }) => id),
    )
    for (const test of found) here.set(test.id, test)
    for (const one of missing) {
      const test = here.get(one.id)
      if (test) tests.set(keyOf(one), test)
    }
  }
  return wanted.flatMap(({ id }) => here.get(id) ?? [])
}

const keyOf = ({ id, version }: { id: string; version: string }) => `${id} ${version}`
