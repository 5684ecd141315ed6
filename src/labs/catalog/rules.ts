import { listAlternatives } from '../../contract/wording.ts'
import { problem } from '../../platform/problem.ts'

type MarkerSelection = { marker_ids?: number[] | null | undefined; provider_ids?: string[] | null | undefined }
type Marker = {
  id: number
  lab_id: number
  provider_id: string
  price: string
  sample_types: string[]
  is_orderable: boolean
  a_la_carte_enabled: boolean
  common_tat_days: number | null
  worst_case_tat_days: number | null
}
type Lab = { id: number; name: string; collection_methods: string[]; sample_types: string[] }

export function checkMarkerSelection({ marker_ids, provider_ids }: MarkerSelection) {
  if (marker_ids?.length && provider_ids?.length)
    throw problem('MARKERS_NAMED_TWICE', 'The request has both marker_ids and provider_ids. Send one of them.')
  if (!marker_ids?.length && !provider_ids?.length)
    throw problem(
      'MARKERS_REQUIRED',
      'The request names no marker. Send marker_ids or provider_ids. List the markers with GET /v3/lab_tests/markers.',
    )
}

/** Catalog IDs are public, so the message names them. */
export function checkMarkersFound({ marker_ids, provider_ids }: MarkerSelection, found: Marker[]) {
  const missing = [
    ...(marker_ids ?? []).filter((id) => !found.some((marker) => marker.id === id)),
    ...(provider_ids ?? []).filter((code) => !found.some((marker) => marker.provider_id === code)),
  ]
  if (missing.length)
    throw problem(
      'UNKNOWN_MARKER',
      `Unknown markers: ${missing.slice(0, 10).join(', ')}. List the markers of the lab with GET /v3/lab_tests/markers.`,
    )
}

export function checkOrderable(markers: Marker[]) {
  const retired = markers.filter((marker) => !marker.is_orderable)
  if (retired.length)
    throw problem('MARKER_NOT_ORDERABLE', `These markers can no longer be ordered: ${idsOf(retired)}. Choose markers with is_orderable.`)
}

export function checkALaCarte(markers: Marker[]) {
  const bundledOnly = markers.filter((marker) => !marker.a_la_carte_enabled)
  if (bundledOnly.length)
    throw problem(
      'MARKER_NOT_A_LA_CARTE',
      `The lab runs these markers only as part of a lab test: ${idsOf(bundledOnly)}. Choose markers with a_la_carte_enabled.`,
    )
}

const idsOf = (markers: Marker[]) => markers.map(({ id }) => id).join(', ')

/** An order goes to exactly one lab. */
export function requireOneLab(lab_ids: number[]): number {
  const [lab_id, ...others] = new Set(lab_ids)
  if (lab_id === undefined) throw new Error('no test or marker to take the lab from')
  if (others.length)
    throw problem(
      'SEVERAL_LABS',
      'The tests or markers belong to more than one lab. Choose tests and markers of one lab, or send lab_slug if the endpoint accepts it.',
    )
  return lab_id
}

type Account = { lab_id: number; status: string }

export function requireAccount<A extends Account>(account: A | undefined): A {
  if (account) return account
  throw problem(
    'UNKNOWN_LAB_ACCOUNT',
    'The team cannot use a lab account with this ID. List the lab accounts with GET /v3/lab_test/lab_account.',
  )
}

export function checkAccountLab(account: Account, lab_id: number) {
  if (account.lab_id !== lab_id)
    throw problem(
      'LAB_ACCOUNT_OF_ANOTHER_LAB',
      'lab_account_id names an account at another lab. Choose an account at the lab of the tests and markers.',
    )
}

export function checkAccountActive({ status }: Account) {
  if (status !== 'active') throw problem('LAB_ACCOUNT_INACTIVE', `The lab account is ${status}. Choose an active account.`)
}

type SelectableAccount = Account & { id: string; org_id: string | null }

/** Selects the named account, the team's only active account, or the platform account. */
export function selectAccount<A extends SelectableAccount>(
  accounts: A[],
  lab_id: number,
  lab_account_id: string | null | undefined,
  usable: readonly string[] = ['active'],
): A {
  const atLab = accounts.filter((account) => account.lab_id === lab_id)
  const linked = atLab.filter(({ org_id }) => org_id)
  const active = linked.filter(({ status }) => status === 'active')
  const [first, another] = active.length ? active : linked.filter(({ status }) => usable.includes(status))
  if (!lab_account_id && another)
    throw problem('LAB_ACCOUNT_AMBIGUOUS', 'The team has several active accounts at this lab. Send lab_account_id.')
  const account = lab_account_id
    ? accounts.find(({ id }) => id === lab_account_id)
    : (first ?? linked[0] ?? atLab.find(({ org_id }) => !org_id))
  const selected = requireAccount(account)
  checkAccountLab(selected, lab_id)
  if (!usable.includes(selected.status)) checkAccountActive(selected)
  return selected
}

export function requireLab<L extends Lab>(lab: L | undefined): L {
  if (lab) return lab
  throw problem('UNKNOWN_LAB', 'No lab has this lab_slug. List the labs with GET /v3/lab_tests/labs.')
}

export function checkMethod(lab: Lab, method: string) {
  if (!lab.collection_methods.includes(method))
    throw problem('METHOD_NOT_OFFERED', `${lab.name} does not offer ${method}. Use ${listAlternatives(lab.collection_methods)}.`)
}

/** The first specimen type of the lab that serves every marker. */
export function commonSampleType(lab: Lab, markers: Marker[]): string {
  const common = lab.sample_types.find((type) => markers.every((marker) => marker.sample_types.includes(type)))
  if (common) return common
  throw problem('NO_COMMON_SAMPLE_TYPE', 'The markers need different specimen types. Create one lab test per specimen type.')
}

/** The price is the sum of the markers; the turnaround is that of the slowest. */
export const termsOf = (markers: Marker[]) => ({
  price: markers.reduce((cents, marker) => cents + toCents(marker.price), 0) / 100,
  common_tat_days: slowest(markers.map((marker) => marker.common_tat_days)),
  worst_case_tat_days: slowest(markers.map((marker) => marker.worst_case_tat_days)),
})

const slowest = (days: (number | null)[]) => (days.includes(null) ? null : Math.max(...(days as number[])))

export const slugOf = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'lab-test'

/** Gap 33: all teams share the catalog, so a team cannot change its tests. */
export function checkOwnTest(test: { team_id: string | null }) {
  if (!test.team_id)
    throw problem(
      'SHARED_LAB_TEST',
      'The lab test belongs to the shared catalog and cannot be changed. Create your own with POST /v3/lab_tests.',
    )
}

export const testNotFound = () =>
  problem('LAB_TEST_NOT_FOUND', 'Neither the catalog nor the team has a lab test with this ID. List the lab tests with GET /v3/lab_test.')

export function checkTestsFound(ids: string[], found: { id: string }[]) {
  const lab_test_ids = ids.filter((id) => !found.some((test) => test.id === id))
  if (lab_test_ids.length)
    throw problem(
      'UNKNOWN_LAB_TEST',
      'lab_test_ids names a lab test that neither the catalog nor the team has. List the lab tests with GET /v3/lab_test.',
      { lab_test_ids },
    )
}

export function checkTestsActive(tests: { id: string; name: string; status: string }[]) {
  const inactive = tests.filter(({ status }) => status !== 'active')
  const [first] = inactive
  if (first)
    throw problem('LAB_TEST_NOT_ACTIVE', `The lab test "${first.name}" is ${first.status}. Order an active lab test.`, {
      lab_test_ids: inactive.map(({ id }) => id),
    })
}

const toCents = (dollars: string | number) => Math.round(Number(dollars) * 100)
const priceOf = ({ price }: { price: string | number }) => ({ base_amount_minor: toCents(price), modifiers: null })
type PricedMarker = { id: number; price: string }

export const markerPricing = (markers: PricedMarker[]) => ({
  currency: 'USD' as const,
  data: Object.fromEntries(markers.map((marker) => [marker.id, priceOf(marker)])),
})

export const testPricing = (tests: { id: string; price: number; markers: PricedMarker[] }[]) => ({
  currency: 'USD' as const,
  data: Object.fromEntries(tests.map((test) => [test.id, { pricing: priceOf(test), marker_breakdown: markerPricing(test.markers).data }])),
})
