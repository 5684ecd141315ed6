import { beforeAll, describe, expect, test } from 'vitest'
import type { TestSelection } from '../../src/labs/orders/checks/rules-tests.ts'
import { labTestOf, resolveTests } from '../../src/labs/orders/placing/tests.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { TeamCaller } from '../../src/platform/callers.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { replica, type Tenant } from '../support/world.ts'

let here: Awaited<ReturnType<typeof replica>>
let team: Tenant
const ids: Record<string, string> = {}

beforeAll(async () => {
  here = await replica()
  team = await here.tenant()
  for (const { name, id } of await team.api.listAllLabTests({ query: { generation_method: 'all' } })) ids[name] = id
})

const callerOf = ({ org_id, team_id }: Tenant) => ({ kind: 'team', org_id, team_id }) as TeamCaller
const resolve = (named: TestSelection, of = team) => resolveTests(here.app, callerOf(of), named)
const order = (named: TestSelection, of = team) =>
  inTransaction(here.app, async (app) => labTestOf(app, callerOf(of), await resolveTests(app, callerOf(of), named)))
const test_ids = (...names: string[]) => names.map((name) => ids[name] as string)
const refusal = (named: TestSelection, of = team) =>
  resolve(named, of).then(
    () => 'accepted',
    (problem) => problem.detail.error_type,
  )

const WELLNESS = 'Essential Wellness'
const HEART = 'Advanced Heart Health'
const IRON = 'Iron and Anemia'
const THYROID = 'Complete Thyroid'

describe('what an order comes to', () => {
  test('a test that stands alone is used as it is, named the old way or the new', async () => {
    const [id] = test_ids(WELLNESS)
    const resolved = await resolve({ order_set: { lab_test_ids: [id as string] } })
    expect(resolved).toMatchObject({ lab: { slug: 'quillmoor', supports_stat: true }, lab_test: { id }, method: 'walk_in_test' })
    expect(resolved.account).toMatchObject({ org_id: null, lab: 'quillmoor' })
    expect(resolved.markers.map((marker) => marker.id)).toEqual(resolved.lab_test?.markers.map((marker) => marker.id))
    expect(await resolve({ lab_test_id: id })).toMatchObject({ lab_test: { id } })
    expect(await resolve({ lab_test_id: id, collection_method: 'walk_in_test' })).toMatchObject({ lab_test: { id } })
    expect(await resolve({ lab_test_id: id, order_set: { lab_test_ids: [id as string] } })).toMatchObject({ lab_test: { id } })
  })

  test('another method makes a test of the same markers, once for the team', async () => {
    const named = { lab_test_id: ids[WELLNESS], collection_method: 'at_home_phlebotomy' as const }
    const before = await resolve(named)
    expect(before.lab_test).toBeUndefined()
    const made = await order(named)
    expect(made).toMatchObject({ name: WELLNESS, method: 'at_home_phlebotomy', auto_generated: true, status: 'active', fasting: true })
    expect(made.markers.map((marker) => marker.id)).toEqual(before.markers.map((marker) => marker.id))
    expect((await order(named)).id).toBe(made.id)
    expect(await resolve(named)).toMatchObject({ lab_test: { id: made.id } })

    const another = await here.tenant()
    expect((await order(named, another)).id).not.toBe(made.id)
    expect(await refusal({ lab_test_id: made.id }, another)).toBe('UNKNOWN_LAB_TEST')
  })

  test('two orders at once make one test', async () => {
    const named = { order_set: { lab_test_ids: test_ids(HEART) }, collection_method: 'on_site_collection' as const }
    const made = await Promise.all([order(named), order(named), order(named)])
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(new Set(made.map(({ markers }) => markers.length))).toEqual(new Set([(await resolve(named)).markers.length]))
  })

  test('several tests and single markers become one, whatever their order', async () => {
    const together = await resolve({ order_set: { lab_test_ids: test_ids(WELLNESS, HEART) } })
    expect(together.recipe.name).toBe(`${WELLNESS} + ${HEART}`)
    const sum = together.markers.reduce((sum, marker) => sum + Math.round(Number(marker.price) * 100), 0)
    expect(together.recipe.price * 100).toBeCloseTo(sum)
    const turned = await resolve({ lab_test_id: ids[HEART], order_set: { lab_test_ids: test_ids(WELLNESS) } })
    expect(turned.recipe.auto_key).toBe(together.recipe.auto_key)
    expect(turned.recipe.name).toBe(`${HEART} + ${WELLNESS}`)

    const single = await resolve({ order_set: { add_on: { marker_ids: [1001] } }, collection_method: 'walk_in_test' })
    expect(single).toMatchObject({ tests: [], lab: { slug: 'quillmoor' }, markers: [{ id: 1001 }], recipe: { method: 'walk_in_test' } })
  })
})

describe('an order is refused', () => {
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
  ])('with %s (%#)', async (error_type, named) => expect(await refusal(named())).toBe(error_type))

  test('with a marker that is sold in tests only', async () => {
    const { markers } = await team.api.listMarkers({ query: { a_la_carte_enabled: false, size: 1 } })
    const marker_ids = markers.map((marker) => marker.id)
    expect(marker_ids).toHaveLength(1)
    expect(await refusal({ order_set: { add_on: { marker_ids } }, collection_method: 'walk_in_test' })).toBe('MARKER_NOT_A_LA_CARTE')
  })

  test('with a test that was archived', async () => {
    const made = await team.api.createLabTest({ body: { name: 'Mine', method: 'walk_in_test', description: '', marker_ids: [1001] } })
    expect(await refusal({ lab_test_id: made.id })).toBe('accepted')
    await team.api.patchLabTest({ params: { lab_test_id: made.id }, body: { active: false } })
    expect(await refusal({ lab_test_id: made.id })).toBe('LAB_TEST_NOT_ACTIVE')
  })
})

describe('the lab account', () => {
  test("is the platform's, the team's only active one, or the one that is named", async () => {
    const tenant = await here.tenant()
    const account = (status = 'active', lab_id = 1) => aLabAccount(here.app.db, { ...tenant, status, lab_id })
    const named = (lab_account_id?: string) => ({ lab_test_id: ids[WELLNESS], lab_account_id })
    const used = async (id?: string) => (await resolve(named(id), tenant)).account.id

    const elsewhere = await account('active', 2)
    const platform = await used()
    expect(platform).not.toBe(elsewhere)
    expect(await refusal(named(elsewhere), tenant)).toBe('LAB_ACCOUNT_OF_ANOTHER_LAB')

    const suspended = await account('suspended')
    expect(await refusal(named(), tenant)).toBe('LAB_ACCOUNT_INACTIVE')
    expect(await used(platform)).toBe(platform)

    const first = await account()
    expect(await used()).toBe(first)
    expect(await refusal(named(suspended), tenant)).toBe('LAB_ACCOUNT_INACTIVE')

    const second = await account()
    expect(await refusal(named(), tenant)).toBe('LAB_ACCOUNT_AMBIGUOUS')
    expect(await used(second)).toBe(second)
    expect(await refusal(named(second))).toBe('UNKNOWN_LAB_ACCOUNT')
  })
})
