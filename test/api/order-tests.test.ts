import { beforeAll, describe, expect, test } from 'vitest'
import type { TestSelection } from '../../src/labs/orders/checks/rules-tests.ts'
import { ensureLabTest, resolveTests } from '../../src/labs/orders/placing/tests.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { TeamCaller } from '../../src/platform/callers.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { replica, type Tenant } from '../support/world.ts'

let w: Awaited<ReturnType<typeof replica>>
let team: Tenant
const ids: Record<string, string> = {}

beforeAll(async () => {
  w = await replica()
  team = await w.tenant()
  for (const { name, id } of await team.api.listAllLabTests({ query: { generation_method: 'all' } })) ids[name] = id
})

const callerOf = ({ org_id, team_id }: Tenant) => ({ kind: 'team', org_id, team_id }) as TeamCaller
const resolve = (selection: TestSelection, tenant = team) => resolveTests(w.app, callerOf(tenant), selection)
const order = (selection: TestSelection, tenant = team) =>
  inTransaction(w.app, async (app) => ensureLabTest(app, callerOf(tenant), await resolveTests(app, callerOf(tenant), selection)))
const test_ids = (...names: string[]) => names.map((name) => ids[name] as string)
const refusal = (selection: TestSelection, tenant = team) =>
  resolve(selection, tenant).then(
    () => 'accepted',
    (problem) => problem.detail.error_type,
  )

const WELLNESS = 'Essential Wellness'
const HEART = 'Advanced Heart Health'
const IRON = 'Iron and Anemia'
const THYROID = 'Complete Thyroid'

describe('resolved tests', () => {
  test('uses a single lab test unchanged, by lab_test_id or order_set', async () => {
    const [id] = test_ids(WELLNESS)
    const resolved = await resolve({ order_set: { lab_test_ids: [id as string] } })
    expect(resolved).toMatchObject({ lab: { slug: 'quillmoor', supports_stat: true }, lab_test: { id }, method: 'walk_in_test' })
    expect(resolved.account).toMatchObject({ org_id: null, lab: 'quillmoor' })
    expect(resolved.markers.map((marker) => marker.id)).toEqual(resolved.lab_test?.markers.map((marker) => marker.id))
    expect(await resolve({ lab_test_id: id })).toMatchObject({ lab_test: { id } })
    expect(await resolve({ lab_test_id: id, collection_method: 'walk_in_test' })).toMatchObject({ lab_test: { id } })
    expect(await resolve({ lab_test_id: id, order_set: { lab_test_ids: [id as string] } })).toMatchObject({ lab_test: { id } })
  })

  test('creates a test for another method with the same markers, once per team', async () => {
    const selection = { lab_test_id: ids[WELLNESS], collection_method: 'at_home_phlebotomy' as const }
    const before = await resolve(selection)
    expect(before.lab_test).toBeUndefined()
    const created = await order(selection)
    expect(created).toMatchObject({ name: WELLNESS, method: 'at_home_phlebotomy', auto_generated: true, status: 'active', fasting: true })
    expect(created.markers.map((marker) => marker.id)).toEqual(before.markers.map((marker) => marker.id))
    expect((await order(selection)).id).toBe(created.id)
    expect(await resolve(selection)).toMatchObject({ lab_test: { id: created.id } })

    const another = await w.tenant()
    expect((await order(selection, another)).id).not.toBe(created.id)
    expect(await refusal({ lab_test_id: created.id }, another)).toBe('UNKNOWN_LAB_TEST')
  })

  test('creates one test for concurrent orders', async () => {
    const selection = { order_set: { lab_test_ids: test_ids(HEART) }, collection_method: 'on_site_collection' as const }
    const created = await Promise.all([order(selection), order(selection), order(selection)])
    expect(new Set(created.map(({ id }) => id)).size).toBe(1)
    expect(new Set(created.map(({ markers }) => markers.length))).toEqual(new Set([(await resolve(selection)).markers.length]))
  })

  test('combines several tests and markers into one, regardless of their order', async () => {
    const combined = await resolve({ order_set: { lab_test_ids: test_ids(WELLNESS, HEART) } })
    expect(combined.combinedTest.name).toBe(`${WELLNESS} + ${HEART}`)
    const sum = combined.markers.reduce((sum, marker) => sum + Math.round(Number(marker.price) * 100), 0)
    expect(combined.combinedTest.price * 100).toBeCloseTo(sum)
    const reversed = await resolve({ lab_test_id: ids[HEART], order_set: { lab_test_ids: test_ids(WELLNESS) } })
    expect(reversed.combinedTest.auto_key).toBe(combined.combinedTest.auto_key)
    expect(reversed.combinedTest.name).toBe(`${HEART} + ${WELLNESS}`)

    const single = await resolve({ order_set: { add_on: { marker_ids: [1001] } }, collection_method: 'walk_in_test' })
    expect(single).toMatchObject({
      tests: [],
      lab: { slug: 'quillmoor' },
      markers: [{ id: 1001 }],
      combinedTest: { method: 'walk_in_test' },
    })
  })
})

describe('selections', () => {
  const unknown = 'ffffffff-0000-4000-8000-000000000000'
  const add_on = { marker_ids: [1001] }
  test.each<[string, () => TestSelection]>([
    ['NO_TESTS_NAMED', () => ({})],
    ['NO_TESTS_NAMED', () => ({ order_set: { lab_test_ids: [] } })],
    ['COLLECTION_METHOD_REQUIRED', () => ({ order_set: { add_on } })],
    ['MARKERS_REQUIRED', () => ({ order_set: { add_on: {} }, collection_method: 'walk_in_test' })],
    ['MARKERS_NAMED_TWICE', () => ({ order_set: { add_on: { ...add_on, provider_ids: ['QM10007'] } }, collection_method: 'walk_in_test' })],
    ['SEVERAL_LABS', () => ({ order_set: { lab_test_ids: test_ids(WELLNESS, THYROID) } })],
    ['SEVERAL_METHODS', () => ({ order_set: { lab_test_ids: test_ids(WELLNESS, IRON) } })],
    ['accepted', () => ({ order_set: { lab_test_ids: test_ids(WELLNESS, IRON) }, collection_method: 'walk_in_test' })],
    ['UNKNOWN_LAB_TEST', () => ({ lab_test_id: unknown })],
    ['LAB_TEST_NOT_ACTIVE', () => ({ lab_test_id: ids['Gut Inflammation, Home'] })],
    ['METHOD_NOT_OFFERED', () => ({ lab_test_id: ids[WELLNESS], collection_method: 'testkit' })],
    ['accepted', () => ({ lab_test_id: ids['Salivary Cortisol'], collection_method: 'testkit' })],
    ['UNKNOWN_LAB_ACCOUNT', () => ({ lab_test_id: ids[WELLNESS], lab_account_id: unknown })],
    ['LAB_ACCOUNTS_DIFFER', () => ({ lab_test_id: ids[WELLNESS], lab_account_id: unknown, order_set: { lab_account_id: ids[WELLNESS] } })],
  ])('return %s (%#)', async (error_type, selection) => expect(await refusal(selection())).toBe(error_type))

  test('reject a marker that is sold in tests only', async () => {
    const { markers } = await team.api.listMarkers({ query: { a_la_carte_enabled: false, size: 1 } })
    const marker_ids = markers.map((marker) => marker.id)
    expect(marker_ids).toHaveLength(1)
    expect(await refusal({ order_set: { add_on: { marker_ids } }, collection_method: 'walk_in_test' })).toBe('MARKER_NOT_A_LA_CARTE')
  })

  test('reject an archived test', async () => {
    const created = await team.api.createLabTest({ body: { name: 'Mine', method: 'walk_in_test', description: '', marker_ids: [1001] } })
    expect(await refusal({ lab_test_id: created.id })).toBe('accepted')
    await team.api.patchLabTest({ params: { lab_test_id: created.id }, body: { active: false } })
    expect(await refusal({ lab_test_id: created.id })).toBe('LAB_TEST_NOT_ACTIVE')
  })
})

describe('lab accounts', () => {
  test('use the given account, the only active one of the team, or the platform account', async () => {
    const tenant = await w.tenant()
    const account = (status = 'active', lab_id = 1) => aLabAccount(w.app.db, { ...tenant, status, lab_id })
    const selection = (lab_account_id?: string) => ({ lab_test_id: ids[WELLNESS], lab_account_id })
    const accountUsed = async (id?: string) => (await resolve(selection(id), tenant)).account.id

    const otherLab = await account('active', 2)
    const platform = await accountUsed()
    expect(platform).not.toBe(otherLab)
    expect(await refusal(selection(otherLab), tenant)).toBe('LAB_ACCOUNT_OF_ANOTHER_LAB')

    const suspended = await account('suspended')
    expect(await refusal(selection(), tenant)).toBe('LAB_ACCOUNT_INACTIVE')
    expect(await accountUsed(platform)).toBe(platform)

    const first = await account()
    expect(await accountUsed()).toBe(first)
    expect(await refusal(selection(suspended), tenant)).toBe('LAB_ACCOUNT_INACTIVE')

    const second = await account()
    expect(await refusal(selection(), tenant)).toBe('LAB_ACCOUNT_AMBIGUOUS')
    expect(await accountUsed(second)).toBe(second)
    expect(await refusal(selection(second))).toBe('UNKNOWN_LAB_ACCOUNT')
  })
})
