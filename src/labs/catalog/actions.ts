import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Analyte, OrderedMeasurements } from '../../contract/labs/analyte.ts'
import { LabTest, type LabTestFilter, type NewLabTest } from '../../contract/labs/catalog.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { isInstant, pageAfter, pageOf } from '../../platform/paging.ts'
import { problem } from '../../platform/problem.ts'
import { findAccountFor, findLabOfAccount, pickMarkers } from './markers.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import { loadLabTests } from './test-cache.ts'

type Filter = z.output<typeof LabTestFilter>
type PageQuery = Filter & {
  lab_test_limit: number
  next_cursor?: string | null | undefined
  include_pricing: boolean
  lab_account_id?: string | null | undefined
}

const isPrice = (text: string) => /^\d+(\.\d+)?$/.test(text)

export async function listLabTests(app: App, caller: TeamCaller, query: PageQuery) {
  const sort = sortOf(query)
  const page = pageAfter(query.next_cursor, query.lab_test_limit, sort.key === 'price' ? isPrice : isInstant)
  const lab_id = await findLabOfAccount(app, caller, query.lab_account_id)
  const found = await store.listLabTests(app.db, caller.team_id, { ...query, lab_id }, sort, page)
  const { rows, next_cursor } = pageOf(found, page, (test) => ({ at: String(test[sort.key]), id: test.id }))
  return { data: rows.map(presentLabTest), next_cursor, ...(query.include_pricing ? { pricing: rules.testPricing(rows) } : {}) }
}

export const listAllLabTests = async (app: App, { team_id }: TeamCaller, filter: Filter) =>
  (await store.listLabTests(app.db, team_id, filter, sortOf(filter))).map(presentLabTest)

const sortOf = ({ order_key, order_direction }: Filter): store.LabTestSort => ({
  key: order_key ?? 'created_at',
  direction: order_direction,
})

export async function getLabTest(app: App, caller: TeamCaller, id: string, lab_account_id?: string | null) {
  const test = await requireLabTest(app, caller.team_id, id)
  await findAccountFor(app, caller, lab_account_id, test.lab_id)
  return presentLabTest(test)
}

/** Creates a test from markers of one lab. Gap 32: the operator approves it; the sandbox approves it automatically. */
export const createLabTest = (app: App, caller: TeamCaller, input: z.output<typeof NewLabTest>) =>
  inTransaction(app, async (app) => {
    const { name, description, method, lab_account_id = null } = input
    const markers = await pickMarkers(app, input, await requestedLab(app, caller, input))
    rules.checkOrderable(markers)
    const lab_id = rules.requireOneLab(markers.map((marker) => marker.lab_id))
    const account = await findAccountFor(app, caller, lab_account_id, lab_id)
    if (account) rules.checkAccountActive(account)
    const lab = await store.findLab(app.db, lab_id)
    rules.checkMethod(lab, method)
    const id = randomUUID()
    const now = app.now()
    const row = { id, team_id: caller.team_id, lab_id, lab_account_id, slug: rules.slugOf(name), name, description, method }
    const terms = { ...rules.termsOf(markers), sample_type: rules.commonSampleType(lab, markers), fasting: input.fasting ?? false }
    const state = { created_at: now, updated_at: now, approved_at: app.config.ENVIRONMENT === 'sandbox' ? now : null }
    const marker_ids = markers.map((marker) => marker.id)
    await store.insertLabTest(app.db, { ...row, ...terms, ...state, marker_ids, has_collection_instructions: true })
    return presentLabTest(await requireLabTest(app, caller.team_id, id))
  })

/** The lab that the provider_ids belong to: from lab_slug, or else from the account. */
async function requestedLab(app: App, caller: TeamCaller, { lab_slug, lab_account_id }: z.output<typeof NewLabTest>) {
  if (lab_slug) return rules.requireLab(await store.findLabBySlug(app.db, lab_slug)).id
  return findLabOfAccount(app, caller, lab_account_id)
}

type Patch = { name?: string | null | undefined; active?: boolean | null | undefined }

export const patchLabTest = (app: App, { team_id }: TeamCaller, id: string, { name, active }: Patch) =>
  inTransaction(app, async (app) => {
    const changesActive = typeof active === 'boolean'
    if (!name && !changesActive) throw problem('NOTHING_TO_PATCH', 'The request changes nothing. Send name or active.')
    await store.lockOwnTest(app.db, team_id, id)
    const test = await requireLabTest(app, team_id, id)
    rules.checkOwnTest(test)
    const now = app.now()
    await store.updateLabTest(app.db, team_id, id, {
      updated_at: now,
      ...(name ? { name } : {}),
      ...(changesActive ? { archived_at: active ? null : (test.archived_at ?? now) } : {}),
    })
    return presentLabTest(await requireLabTest(app, team_id, id))
  })

/** Tests of the catalog and of all teams that are pending approval. */
export const listPendingLabTests = (app: App) => store.listPendingLabTests(app.db)

/** Undefined if no lab test has the ID. */
export const approveLabTest = (app: App, id: string) =>
  inTransaction(app, async ({ db, wall }) => {
    const owner = await store.findTeamOfTest(db, id)
    return owner ? store.approveTeamTest(db, owner.team_id, id, wall()) : store.approveCatalogTest(db, id, wall())
  })

export async function requireLabTest(app: App, team_id: string, id: string) {
  const test = await store.findLabTest(app.db, team_id, id)
  if (!test) throw rules.testNotFound()
  return test
}

export type LabTestRow = store.LabTestRow

export async function loadLabTestsById(app: App, team_id: string, ids: string[]): Promise<Map<string, LabTestRow>> {
  return new Map((await loadLabTests(app, team_id, ids)).map((test) => [test.id, test]))
}

/** The markers of a test, with all analytes of the catalog. */
export const loadMeasurements = async (app: App, { markers }: Pick<LabTestRow, 'markers'>): Promise<OrderedMeasurements> => ({
  markers,
  analytes: await loadAnalytes(app),
})

const analyteCache = declareCache((): { version: string | undefined; analytes: Analyte[] } => ({ version: undefined, analytes: [] }))

/** All analytes, cached until the catalog changes. The version is read first, so that a change in between is noticed by the next call. */
export async function loadAnalytes(app: App) {
  const cache = analyteCache(app)
  const version = await store.findCatalogVersion(app.db)
  if (version === undefined) return store.listAnalytes(app.db)
  if (cache.version !== version) Object.assign(cache, { version, analytes: await store.listAnalytes(app.db) })
  return cache.analytes
}

const shapedTests = declareCache(() => new WeakMap<LabTestRow, z.output<typeof LabTest>>())

/** A lab test as it appears in orders. A version of it is shaped once. */
export function shapeLabTest(app: App, test: LabTestRow) {
  const cache = shapedTests(app)
  const shaped = cache.get(test) ?? LabTest.parse(presentLabTest(test))
  cache.set(test, shaped)
  return shaped
}

export const presentLabTest = <T extends { status: string }>(test: T) => ({
  ...test,
  is_active: test.status === 'active',
  is_delegated: false,
})
