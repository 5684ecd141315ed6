import type { z } from 'zod'
import type { OrderSet } from '../../contract/labs/catalog.ts'
import type { App } from '../../platform/app.ts'
import type { LabCaller, TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import { loadLabTests } from './test-cache.ts'

type PageQuery = { page: number; size: number }
type MarkerQuery = PageQuery &
  Omit<store.MarkerFilter, 'ids' | 'lab_ids'> & {
    lab_id?: number[] | null | undefined
    include_pricing: boolean
    lab_account_id?: string | null | undefined
  }

export async function listMarkers(app: App, caller: TeamCaller, query: MarkerQuery) {
  const { lab_slug, name, a_la_carte_enabled } = query
  const lab_id = await findLabOfAccount(app, caller, query.lab_account_id)
  const requestedLabs = query.lab_id?.length ? query.lab_id : undefined
  const lab_ids = lab_id === undefined ? requestedLabs : (requestedLabs ?? [lab_id]).filter((id) => id === lab_id)
  const none = lab_ids?.length === 0
  const found = await loadMarkerPage(app, none ? { ids: [] } : { lab_ids, lab_slug, name, a_la_carte_enabled }, query)
  return query.include_pricing ? { ...found, pricing: rules.markerPricing(found.markers) } : found
}

export async function listLabTestMarkers(
  app: App,
  caller: TeamCaller,
  id: string,
  query: PageQuery & { lab_account_id?: string | null | undefined },
) {
  const test = await store.findLabTest(app.db, caller.team_id, id)
  if (!test) throw rules.testNotFound()
  await findAccountFor(app, caller, query.lab_account_id, test.lab_id)
  return loadMarkerPage(app, { ids: test.markers.map((marker) => marker.id) }, query)
}

export async function listOrderSetMarkers(app: App, caller: TeamCaller, set: z.output<typeof OrderSet>, query: PageQuery) {
  const { markers } = await resolveOrderSet(app, caller, set)
  return loadMarkerPage(app, { ids: markers.map((marker) => marker.id) }, query)
}

/** Resolves an order set to tests and markers of one lab, with the accounts that the team can use. */
export async function resolveOrderSet(app: App, caller: TeamCaller, { lab_test_ids, add_on, lab_account_id }: z.output<typeof OrderSet>) {
  if (!lab_test_ids?.length && !add_on) throw problem('ORDER_SET_EMPTY', 'The order set is empty. Send lab_test_ids, add_on or both.')
  if (add_on) rules.checkMarkerSelection(add_on)
  const [tests, accounts] = await Promise.all([
    lab_test_ids?.length ? loadLabTests(app, caller.team_id, lab_test_ids) : [],
    store.listUsableLabAccounts(app.db, caller),
  ])
  rules.checkTestsFound(lab_test_ids ?? [], tests)
  const account = lab_account_id ? rules.requireAccount(accounts.find(({ id }) => id === lab_account_id)) : undefined
  const labOfTests = tests.length ? rules.requireOneLab(tests.map((test) => test.lab_id)) : undefined
  const added = add_on ? await pickMarkers(app, add_on, add_on.provider_ids?.length ? (labOfTests ?? account?.lab_id) : undefined) : []
  rules.checkALaCarte(added)
  const markers = [...sortByIds(tests, lab_test_ids).flatMap((test) => test.markers), ...added]
  const lab_id = rules.requireOneLab(markers.map((marker) => marker.lab_id))
  if (account) rules.checkAccountLab(account, lab_id)
  return { tests, lab_id, accounts, markers: [...new Map(markers.map((marker) => [marker.id, marker])).values()] }
}

const sortByIds = (tests: store.LabTestRow[], ids: string[] | null | undefined) =>
  tests.sort((a, b) => (ids ?? []).indexOf(a.id) - (ids ?? []).indexOf(b.id))

/** Finds the markers by marker_ids or provider_ids, in the order of the request. */
export async function pickMarkers(
  app: App,
  selection: { marker_ids?: number[] | null | undefined; provider_ids?: string[] | null | undefined },
  lab_id: number | undefined,
) {
  rules.checkMarkerSelection(selection)
  const found = await store.findMarkers(app.db, selection, lab_id)
  rules.checkMarkersFound(selection, found)
  const positionOf = (marker: store.MarkerRow) =>
    selection.marker_ids?.length ? selection.marker_ids.indexOf(marker.id) : (selection.provider_ids ?? []).indexOf(marker.provider_id)
  return found.sort((a, b) => positionOf(a) - positionOf(b))
}

export async function getMarker(app: App, caller: TeamCaller, lab_id: number, provider_id: string, lab_account_id?: string | null) {
  const marker = await store.findMarker(app.db, lab_id, provider_id)
  if (!marker)
    throw problem(
      'MARKER_NOT_FOUND',
      'The lab has no marker with this provider_id. List its markers with GET /v3/lab_tests/markers?lab_id=.',
    )
  await findAccountFor(app, caller, lab_account_id, lab_id)
  return marker
}

async function loadMarkerPage(app: App, filter: store.MarkerFilter, { page, size }: PageQuery) {
  const { total } = await store.countMarkers(app.db, filter)
  const found = await store.listMarkers(app.db, filter, size, (page - 1) * size)
  const markers = found.map(({ results, ...marker }) => ({ ...marker, expected_results: results }))
  return { markers, total, page, size, pages: Math.ceil(total / size) }
}

export const listLabs = (app: App) => store.listLabs(app.db)

export const getLab = (app: App, id: number) => store.findLab(app.db, id)

export const getOwnLab = (app: App, { lab_id }: LabCaller) => getLab(app, lab_id)

export const findLabBySlug = (app: App, slug: string) => store.findLabBySlug(app.db, slug)

/** Gap 34: the list includes the platform accounts, which have no organization. */
export async function listLabAccounts(app: App, caller: TeamCaller, filter: Parameters<typeof store.listLabAccounts>[2]) {
  const accounts = await store.listLabAccounts(app.db, caller, filter)
  return { data: accounts.map(({ team_id, ...account }) => ({ ...account, team_id_allowlist: team_id ? [team_id] : [] })) }
}

export const loadAccountNumber = async (app: App, id: string | null) =>
  id ? ((await store.findAccount(app.db, id))?.provider_account_id ?? null) : null

/** Returns the named account, which must be usable by the team and belong to the lab. */
export async function findAccountFor(app: App, caller: TeamCaller, lab_account_id: string | null | undefined, lab_id: number) {
  const account = await findRequestedAccount(app, caller, lab_account_id)
  if (account) rules.checkAccountLab(account, lab_id)
  return account
}

export const findLabOfAccount = async (app: App, caller: TeamCaller, lab_account_id: string | null | undefined) =>
  (await findRequestedAccount(app, caller, lab_account_id))?.lab_id

async function findRequestedAccount(app: App, caller: TeamCaller, lab_account_id: string | null | undefined) {
  if (!lab_account_id) return undefined
  const [account] = await store.listLabAccounts(app.db, caller, { lab_account_id })
  return rules.requireAccount(account)
}
