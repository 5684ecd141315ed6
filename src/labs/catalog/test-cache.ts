import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import * as store from './store.ts'

const MAX_CACHED_TESTS = 2000

/** Tests by team, ID and version. */
const labTestCache = declareCache(() => new Map<string, store.LabTestRow>())

/**
 * The tests that a team sees, with lab and markers. Loading one costs more than anything else an order reads,
 * so it is cached until the test or the catalog changes; each call checks the version.
 */
export async function loadLabTests(app: App, team_id: string, ids: string[]): Promise<store.LabTestRow[]> {
  const cache = labTestCache(app)
  const versions = await store.listTestVersions(app.db, team_id, ids)
  // The call keeps its own references, because another call may clear the cache while it waits.
  const testsById = new Map(versions.map((version) => [version.id, cache.get(keyOf(version))]))
  const missing = versions.filter(({ id }) => !testsById.get(id))
  if (cache.size + missing.length > MAX_CACHED_TESTS) cache.clear()
  if (missing.length) {
    const found = await store.findLabTests(
      app.db,
      team_id,
      missing.map(({ id }) => id),
    )
    for (const test of found) testsById.set(test.id, test)
    for (const version of missing) {
      const test = testsById.get(version.id)
      if (test) cache.set(keyOf(version), test)
    }
  }
  return versions.flatMap(({ id }) => testsById.get(id) ?? [])
}

const keyOf = ({ team_id, id, version }: { team_id: string | null; id: string; version: string }) => `${team_id} ${id} ${version}`
