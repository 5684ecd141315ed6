import type { App } from '../app.ts'
import * as store from './store.ts'

const MOST = 2000

/** Tests by id and version, for each database that the process works on. */
const known = new WeakMap<App['vault'], Map<string, store.LabTestRow>>()

/**
 * The tests that a team sees, with lab and markers. Putting one together costs more than all else that an order reads,
 * so it is kept until the test or the catalogue changes; which version counts is asked each time.
 */
export async function labTestsOf(app: App, team_id: string, ids: string[]): Promise<store.LabTestRow[]> {
  const tests = known.get(app.vault) ?? new Map<string, store.LabTestRow>()
  known.set(app.vault, tests)
  const wanted = await store.testVersions(app.db, team_id, ids)
  const missing = wanted.filter((one) => !tests.has(keyOf(one)))
  if (tests.size + missing.length > MOST) tests.clear()
  if (missing.length) {
    const found = await store.findLabTests(
      app.db,
      team_id,
      missing.map(({ id }) => id),
    )
    for (const test of found) {
      const version = missing.find(({ id }) => id === test.id)
      if (version) tests.set(keyOf(version), test)
    }
  }
  return wanted.flatMap((one) => tests.get(keyOf(one)) ?? [])
}

const keyOf = ({ id, version }: { id: string; version: string }) => `${id} ${version}`
