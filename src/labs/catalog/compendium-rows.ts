import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import * as store from './store.ts'
import { listCatalogTests, listMeasuringMarkers } from './store-compendium.ts'

type Rows = Awaited<ReturnType<typeof readRows>>
export type CompendiumRows = Rows

const rowsCache = declareCache((): { version?: string; rows?: Rows } => ({}))

/** The markers of all labs with what they measure. The same value until the catalog changes. */
export async function loadCompendiumRows(app: App): Promise<Rows> {
  const cache = rowsCache(app)
  const version = await store.findCatalogVersion(app.db)
  if (version !== undefined && cache.version === version && cache.rows) return cache.rows
  const rows = await readRows(app)
  if (version !== undefined) Object.assign(cache, { version, rows })
  return rows
}

async function readRows({ db }: App) {
  const [markers, analytes] = [await listMeasuringMarkers(db), await store.listAnalytes(db)]
  const bySlug = new Map(analytes.map(({ slug, name, loinc }) => [slug, { name, loinc }]))
  const tests = await listCatalogTests(db)
  const uses = new Map<number, number>()
  for (const { marker_ids } of tests) for (const id of marker_ids) uses.set(id, (uses.get(id) ?? 0) + 1)
  return {
    lab_tests: tests.length,
    markers: markers.map(({ expected_results, ...marker }) => ({
      ...marker,
      results: expected_results.flatMap((slug) => bySlug.get(slug) ?? []),
      uses: uses.get(marker.id) ?? 0,
    })),
  }
}
