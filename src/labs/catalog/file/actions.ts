import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import { isUniqueViolation } from '../../../platform/db/errors.ts'
import { setupProblem } from '../../../platform/problem.ts'
import { putIcdCodes, putPayors } from '../../../tenants/insurance/actions.ts'
import { putPlatformAccounts } from '../accounts/actions.ts'
import { type Catalog, readCatalog } from './file.ts'
import * as rows from './rows.ts'
import * as store from './store.ts'

const file = new URL('../../../../catalog/catalog.json', import.meta.url)
const BATCH_ROWS = 1000

/** Loads the built-in catalog. A file that is already loaded costs one query. */
export const loadCatalog = async (app: App) => loadCatalogText(app, await readFile(file, 'utf8'))

/**
 * Loads the shared catalog and returns how many rows of each kind it wrote, or null if this file is already loaded.
 * Lab tests that the file no longer has are archived. Markers that it no longer has cannot be ordered.
 */
export async function loadCatalogText(app: App, text: string) {
  const version = createHash('sha256').update(text).digest('hex')
  if ((await store.findLoadedCatalog(app.db))?.version === version) return { version, loaded: null, archived_tests: 0, retired_markers: 0 }
  const catalog = readCatalog(text)
  return inTransaction(app, async (app) => {
    await store.lockLoading(app.db)
    await writeCatalog(app, catalog)
    const retired = await retireRemovedRows(app, catalog)
    await store.upsert(app.db, 'catalog', [{ one: true, version, loaded_at: app.wall() }], 'one')
    return { version, loaded: countsOf(catalog), ...retired }
  })
}

const countsOf = (catalog: Catalog) => ({
  labs: catalog.labs.length,
  analytes: catalog.analytes.length,
  markers: catalog.lab_markers.length,
  lab_tests: catalog.lab_tests.length,
  service_centers: catalog.patient_service_centers.length,
  phlebotomy_areas: catalog.phlebotomy_coverage.length,
  zip_codes: catalog.zip_codes.length,
  payors: catalog.payors.length,
  icd_codes: catalog.icd10_starter.length,
})

async function writeCatalog(app: AppInTransaction, catalog: Catalog) {
  const at = app.wall()
  await upsertRows(app, 'labs', catalog.labs.map(rows.labRow), 'id')
  await putPlatformAccounts(
    app,
    catalog.labs.map((lab) => rows.platformAccount(lab, at)),
  )
  await upsertRows(app, 'analytes', catalog.analytes.map(rows.analyteRow), 'slug')
  await upsertRows(app, 'markers', rows.markerRows(catalog), 'id')
  await checkTestIds(app, catalog)
  await upsertRows(
    app,
    'lab_tests',
    catalog.lab_tests.map((test) => rows.testRow(test, at)),
    'id',
    ['created_at', 'approved_at'],
  )
  await store.deletePlaces(app.db)
  await upsertRows(app, 'service_centers', rows.centerRows(catalog), 'site_code')
  for (const batch of batchesOf(catalog.phlebotomy_coverage)) await store.insertAreas(app.db, batch)
  await upsertRows(app, 'zip_codes', catalog.zip_codes, 'zip')
  for (const batch of batchesOf(catalog.payors)) await putPayors(app, batch)
  for (const batch of batchesOf(catalog.icd10_starter)) await putIcdCodes(app, batch)
}

/** Writes in batches, because a PostgreSQL statement takes at most 65,535 parameters. */
async function upsertRows<T extends store.SharedTable>(
  { db }: App,
  table: T,
  rows: store.SharedRow<T>[],
  key: string,
  keptColumns: string[] = [],
) {
  for (const batch of batchesOf(rows))
    await store.upsert(db, table, batch, key, keptColumns).catch((error) => rejectChangedIds(error, table))
}

const batchesOf = <R>(rows: R[]) =>
  Array.from({ length: Math.ceil(rows.length / BATCH_ROWS) }, (_, i) => rows.slice(i * BATCH_ROWS, (i + 1) * BATCH_ROWS))

/** The catalog must not take over a team's own test. */
async function checkTestIds({ db }: App, { lab_tests }: Catalog) {
  const taken = await store.findTeamTests(
    db,
    lab_tests.map(({ id }) => id),
  )
  if (taken.length)
    throw setupProblem(
      `The catalog uses the ID of a team's own lab test; choose another ID instead of ${taken.map(({ id }) => id).join(', ')}`,
    )
}

function rejectChangedIds(error: unknown, table: string): never {
  if (!isUniqueViolation(error)) throw error
  throw setupProblem(
    `The catalog changes the ID, slug or LOINC code of a row in ${table} that is already loaded; keep the values of the first load`,
  )
}

async function retireRemovedRows({ db, wall }: App, { lab_tests, lab_markers }: Catalog) {
  const archived = await store.archiveOtherTests(
    db,
    lab_tests.map(({ id }) => id),
    wall(),
  )
  const retired = await store.retireOtherMarkers(
    db,
    lab_markers.map(({ id }) => id),
  )
  return { archived_tests: archived.length, retired_markers: retired.length }
}

/** Undefined before the first load. */
export async function summarizeCatalog(app: App) {
  const loaded = await store.findLoadedCatalog(app.db)
  if (!loaded) return undefined
  const labs = await store.countByLab(app.db)
  return { ...loaded, labs, ...(await store.countShared(app.db)) }
}
