import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { methods } from '../../src/contract/labs/lifecycle.ts'
import { loadLabTestsById } from '../../src/labs/catalog/actions.ts'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, replica, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const LIPID = 1001
const CMP = 1002
const WELLNESS = 'f49f0523-b294-5a04-8de6-7a4ceb5d8762'
const aTest = (change: object = {}) => ({
  name: 'Baseline',
  description: 'Baseline panel.',
  method: 'walk_in_test' as const,
  marker_ids: [LIPID, CMP],
  ...change,
})
const rejection = (status: number, error_type: string) => ({ status, detail: { error_type } })

describe('the catalog', () => {
  test('is the same for every team and has a test without required AoE answers for each method', async () => {
    const other = await w.tenant()
    const tests = await w.api.listAllLabTests()
    expect(await other.api.listAllLabTests()).toEqual(tests)
    for (const method of methods) {
      const simple = tests.filter(({ method: m, status, markers }) => m === method && status === 'active' && !needsAnswers(markers ?? []))
      expect([method, simple.length > 0]).toEqual([method, true])
    }
  })

  test('returns a lab test with its lab and markers', async () => {
    const test = await w.api.getLabTest({ params: { lab_test_id: WELLNESS } })
    expect(test).toMatchObject({
      id: WELLNESS,
      slug: 'essential-wellness',
      sample_type: 'serum',
      method: 'walk_in_test',
      price: 79,
      is_active: true,
      status: 'active',
      fasting: true,
      is_delegated: false,
      auto_generated: false,
      lab: { id: 1, slug: 'quillmoor', collection_methods: ['walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] },
    })
    expect(test.markers?.map(({ id }) => id)).toEqual([1001, 1002, 1006, 1019, 1021])
    expect(test.markers?.[0]).toMatchObject({
      slug: 'lipid-panel',
      lab_id: 1,
      provider_id: 'QM10007',
      type: 'panel',
      price: '18.00',
      aoe: { questions: [{ code: 'FASTING', required: false, answers: [{ code: 'Y' }, { code: 'N' }] }] },
      common_tat_days: 1,
      is_orderable: true,
    })
    expect(test.lab).not.toHaveProperty('name_rules')
  })

  test('is unchanged by a second load and updated from a changed file', async () => {
    const rows = () => query(w.url, 'select to_jsonb(t) as row from lab_tests t order by id')
    const before = await rows()
    await loadCatalog(w.app)
    expect(await rows()).toEqual(before)
    await query(w.url, "update catalog set version = 'older'; update labs set name = 'Old name' where id = 1; delete from icd_codes")
    const accounts = await w.api.listLabAccounts()
    await Promise.all([loadCatalog(w.app), loadCatalog(w.app)])
    expect((await w.api.listLabs())[0]?.name).toBe('Quillmoor Reference Laboratory')
    expect(await w.api.searchDiagnoses({ query: { diagnosis_query: 'E785' } })).toHaveLength(1)
    expect(await w.api.listLabAccounts()).toEqual(accounts)
  })

  test('starts empty in production', async () => {
    const { api } = await world({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
    expect([await api.listAllLabTests(), await api.listLabs()]).toEqual([[], []])
    expect(await errorOf(api.createLabTest({ body: aTest() }))).toMatchObject(rejection(400, 'UNKNOWN_MARKER'))
  })
})

describe('listing lab tests', () => {
  const namesOf = async (query: object) => (await w.api.listLabTests({ query })).data.map(({ name }) => name)

  test.each([
    [{ lab_slug: 'mossgate', status: 'active' }, ['Chlamydia and Gonorrhea, Home', 'Colon Screen (FIT), Home']],
    [{ status: 'pending_approval' }, ['Gut Inflammation, Home']],
    [{ collection_method: 'on_site_collection', lab_slug: 'quillmoor' }, ['On-site Event Screen']],
    [{ name: 'LONGevity' }, ['Longevity Comprehensive']],
    [{ provider_ids: ['QM10007'], marker_ids: [1012] }, ['Advanced Heart Health', 'Longevity Comprehensive']],
    [{ marker_ids: [1012, 4057] }, []],
    [{ lab_slug: 'nowhere' }, []],
    [{ generation_method: 'auto' }, []],
  ])('filters by %j', async (query, names) => {
    expect((await namesOf(query)).sort()).toEqual(names)
  })

  test.each(['price', 'created_at', 'updated_at'] as const)(
    'pages through every test once when ordered by %s in either direction',
    async (order_key) => {
      const all = (await w.api.listLabTests({ query: { lab_test_limit: 500, order_key } })).data
      for (const order_direction of ['asc', 'desc'] as const) {
        const seen = []
        let next_cursor: string | null | undefined
        do {
          const page = await w.api.listLabTests({ query: { order_key, order_direction, lab_test_limit: 4, next_cursor } })
          expect(page.data.length).toBeLessThanOrEqual(4)
          seen.push(...page.data)
          next_cursor = page.next_cursor
        } while (next_cursor)
        expect(seen.map(({ id }) => id)).toEqual((order_direction === 'asc' ? all : all.toReversed()).map(({ id }) => id))
      }
      if (order_key === 'price') expect(all.map(({ price }) => price)).toEqual(all.map(({ price }) => price).sort((a, b) => a - b))
    },
  )

  test('rejects a cursor of another sort order and a limit out of range', async () => {
    const { next_cursor } = await w.api.listLabTests({ query: { order_key: 'price', lab_test_limit: 1 } })
    expect(await errorOf(w.api.listLabTests({ query: { next_cursor } }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['query', 'next_cursor'] }],
    })
    for (const lab_test_limit of [0, 501, -1]) expect((await errorOf(w.api.listLabTests({ query: { lab_test_limit } }))).status).toBe(422)
  })

  test('returns prices in cents for tests and markers with include_pricing', async () => {
    const { data, pricing } = await w.api.listLabTests({ query: { name: 'Essential', include_pricing: true } })
    expect(data).toHaveLength(1)
    expect(pricing).toMatchObject({
      currency: 'USD',
      data: { [WELLNESS]: { pricing: { base_amount_minor: 7900 }, marker_breakdown: { 1001: { base_amount_minor: 1800 } } } },
    })
    expect(await w.api.listLabTests({ query: { name: 'Essential' } })).not.toHaveProperty('pricing')
  })

  test('sends a Deprecation header from the unpaginated endpoint', async () => {
    const response = await sendRequest(w.base, endpoints.listAllLabTests, { headers: { 'x-service-api-key': w.team_api_key } })
    expect([response.status, response.headers.get('deprecation')]).toEqual([200, '@1759276800'])
  })
})

describe("a team's own lab test", () => {
  test('is created from markers, active at once in the sandbox and visible only to its team', async () => {
    const mine = await w.tenant()
    const other = await w.tenant()
    const created = await mine.api.createLabTest({ body: aTest({ fasting: true, marker_ids: [CMP, LIPID, CMP] }) })
    expect(created).toMatchObject({
      name: 'Baseline',
      slug: 'baseline',
      method: 'walk_in_test',
      sample_type: 'serum',
      price: 34,
      status: 'active',
      is_active: true,
      fasting: true,
      auto_generated: false,
      common_tat_days: 1,
      worst_case_tat_days: 3,
      lab: { slug: 'quillmoor' },
      markers: [{ id: CMP }, { id: LIPID }],
    })
    expect(await mine.api.getLabTest({ params: { lab_test_id: created.id } })).toEqual(created)
    expect((await mine.api.listAllLabTests()).at(-1)).toEqual(created)
    expect((await mine.api.listLabTests({ query: { own: true } })).data).toEqual([created])
    const catalog = (await mine.api.listLabTests({ query: { own: false, lab_test_limit: 500 } })).data
    expect(catalog).toEqual((await other.api.listLabTests({ query: { lab_test_limit: 500 } })).data)
    expect(await errorOf(other.api.getLabTest({ params: { lab_test_id: created.id } }))).toMatchObject(rejection(404, 'LAB_TEST_NOT_FOUND'))
    expect((await other.api.listAllLabTests()).map(({ id }) => id)).not.toContain(created.id)
  })

  test("can be created from the lab's provider_ids", async () => {
    const body = aTest({ marker_ids: null, provider_ids: ['QM10007'], lab_slug: 'quillmoor' })
    expect(await w.api.createLabTest({ body })).toMatchObject({ markers: [{ id: LIPID }], fasting: false })
    expect(await w.api.createLabTest({ body: { ...body, lab_slug: null } })).toMatchObject({ markers: [{ id: LIPID }] })
  })

  test.each([
    [{ marker_ids: null }, 'MARKERS_REQUIRED'],
    [{ marker_ids: [] }, 'MARKERS_REQUIRED'],
    [{ provider_ids: ['QM10007'] }, 'MARKERS_NAMED_TWICE'],
    [{ marker_ids: [LIPID, 999_999] }, 'UNKNOWN_MARKER'],
    [{ marker_ids: null, provider_ids: ['QM10007'], lab_slug: 'wrenfield' }, 'UNKNOWN_MARKER'],
    [{ lab_slug: 'nowhere' }, 'UNKNOWN_LAB'],
    [{ marker_ids: [LIPID, 3001] }, 'SEVERAL_LABS'],
    [{ method: 'testkit' }, 'METHOD_NOT_OFFERED'],
    [{ lab_account_id: newUuid() }, 'UNKNOWN_LAB_ACCOUNT'],
  ])('is rejected with %j', async (change, error_type) => {
    expect(await errorOf(w.api.createLabTest({ body: aTest(change) }))).toMatchObject(rejection(400, error_type))
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: undefined }, 'name'],
    [{ method: 'by_mail' }, 'method'],
    [{ description: undefined }, 'description'],
    [{ marker_ids: ['one'] }, 'marker_ids'],
    [{ marker_ids: [2_147_483_648] }, 'marker_ids'],
  ])('returns 422 for %j', async (change, field) => {
    const { status, detail } = await errorOf(w.api.createLabTest({ body: aTest(change) }))
    expect([status, (detail as unknown as { loc: string[] }[])[0]?.loc.slice(0, 2)]).toEqual([422, ['body', field]])
  })

  test('can be renamed, archived and restored', async () => {
    const { id } = await w.api.createLabTest({ body: aTest() })
    const params = { lab_test_id: id }
    expect(await w.api.patchLabTest({ params, body: { name: 'Renamed' } })).toMatchObject({ name: 'Renamed', status: 'active' })
    expect(await w.api.patchLabTest({ params, body: { active: false } })).toMatchObject({
      status: 'inactive',
      is_active: false,
      name: 'Renamed',
    })
    expect(await w.api.patchLabTest({ params, body: { active: false } })).toMatchObject({ status: 'inactive' })
    expect(await w.api.patchLabTest({ params, body: { active: true } })).toMatchObject({ status: 'active', is_active: true })
    for (const body of [{}, { name: null, active: null }])
      expect(await errorOf(w.api.patchLabTest({ params, body }))).toMatchObject(rejection(400, 'NOTHING_TO_PATCH'))
  })

  test('is the only kind of lab test a team can change', async () => {
    const params = { lab_test_id: WELLNESS }
    const before = await w.api.getLabTest({ params })
    expect(await errorOf(w.api.patchLabTest({ params, body: { active: false } }))).toMatchObject(rejection(400, 'SHARED_LAB_TEST'))
    expect(await w.api.getLabTest({ params })).toEqual(before)
  })

  test('stays pending approval in production, even after archiving and restoring', async () => {
    const production = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
    await loadCatalog(production.app)
    const { api } = await production.tenant()
    const { id, status, is_active } = await api.createLabTest({ body: aTest() })
    expect([status, is_active]).toEqual(['pending_approval', false])
    const params = { lab_test_id: id }
    await api.patchLabTest({ params, body: { active: false } })
    expect(await api.patchLabTest({ params, body: { active: true } })).toMatchObject({ status: 'pending_approval' })
  })

  test('is deleted with its team', async () => {
    const mine = await w.tenant()
    const { id } = await mine.api.createLabTest({ body: aTest() })
    await query(w.url, 'delete from teams where id = $1', [mine.team_id])
    expect(await query(w.url, 'select 1 from team_lab_tests where id = $1', [id])).toEqual([])
  })
})

describe('markers', () => {
  test('are listed in pages with their expected results', async () => {
    const first = await w.api.listMarkers({ query: { size: 100 } })
    const second = await w.api.listMarkers({ query: { size: 100, page: 2 } })
    expect(first).toMatchObject({ total: 122, page: 1, size: 100, pages: 2 })
    expect(new Set([...first.markers, ...second.markers].map(({ id }) => id)).size).toBe(122)
    expect(first.markers[0]?.expected_results[0]).toEqual({
      id: 20933,
      name: 'Cholesterol, Total',
      slug: 'cholesterol-total',
      lab_id: 1,
      provider_id: null,
      required: true,
      loinc: { id: 20933, name: 'Cholesterol, Total', slug: 'cholesterol-total', code: '2093-3', unit: 'mg/dL' },
    })
    expect((await w.api.listMarkers({ query: { page: 9 } })).markers).toEqual([])
  })

  test('can be filtered by lab, name and a_la_carte_enabled, with prices', async () => {
    const found = async (query: object) => (await w.api.listMarkers({ query: { size: 100, ...query } })).markers
    expect(new Set((await found({ lab_id: [3, 4] })).map(({ lab_id }) => lab_id))).toEqual(new Set([3, 4]))
    expect(new Set((await found({ lab_slug: 'larkstone' })).map(({ lab_id }) => lab_id))).toEqual(new Set([3]))
    expect((await found({ name: 'lipid pan', lab_id: [1] })).map(({ id }) => id)).toEqual([LIPID])
    expect((await found({ a_la_carte_enabled: false })).every((marker) => !marker.a_la_carte_enabled)).toBe(true)
    const priced = await w.api.listMarkers({ query: { lab_id: [1], name: 'lipid', include_pricing: true } })
    expect(priced.pricing).toMatchObject({ currency: 'USD', data: { [LIPID]: { base_amount_minor: 1800 } } })
  })

  test('are listed for a lab test or an order set and found by lab and provider_id', async () => {
    const params = { lab_test_id: WELLNESS }
    const ofTest = await w.api.listLabTestMarkers({ params, query: { size: 2, page: 2 } })
    expect(ofTest).toMatchObject({ total: 5, pages: 3, markers: [{ id: 1006 }, { id: 1019 }] })
    const set = await w.api.listOrderSetMarkers({ body: { lab_test_ids: [WELLNESS], add_on: { marker_ids: [LIPID, 1012] } } })
    expect(set.markers.map(({ id }) => id)).toEqual([1001, 1002, 1006, 1012, 1019, 1021])
    const byCode = await w.api.listOrderSetMarkers({ body: { add_on: { provider_ids: ['QM10007'] } } })
    expect(byCode.markers.map(({ id }) => id)).toEqual([LIPID])
    expect(await w.api.getMarker({ params: { lab_id: 1, provider_id: 'QM10007' } })).toMatchObject({ id: LIPID, slug: 'lipid-panel' })
    expect(await errorOf(w.api.getMarker({ params: { lab_id: 2, provider_id: 'QM10007' } }))).toMatchObject(
      rejection(404, 'MARKER_NOT_FOUND'),
    )
  })

  test.each([
    [{}, 'ORDER_SET_EMPTY'],
    [{ lab_test_ids: [] }, 'ORDER_SET_EMPTY'],
    [{ add_on: {} }, 'MARKERS_REQUIRED'],
    [{ add_on: { marker_ids: [LIPID], provider_ids: ['QM10007'] } }, 'MARKERS_NAMED_TWICE'],
    [{ add_on: { marker_ids: [3001] } }, 'MARKER_NOT_A_LA_CARTE'],
    [{ add_on: { marker_ids: [7] } }, 'UNKNOWN_MARKER'],
    [{ lab_test_ids: [newUuid()] }, 'UNKNOWN_LAB_TEST'],
    [{ lab_test_ids: [WELLNESS], add_on: { marker_ids: [2001] } }, 'SEVERAL_LABS'],
    [{ lab_test_ids: [WELLNESS], lab_account_id: newUuid() }, 'UNKNOWN_LAB_ACCOUNT'],
  ])('are rejected for the order set %j', async (body, error_type) => {
    expect(await errorOf(w.api.listOrderSetMarkers({ body }))).toMatchObject(rejection(400, error_type))
  })

  test.each([
    '/v3/lab_tests/markersx',
    '/v3/lab_tests/one/markers/QM10007',
    '/v3/lab_tests/1/markers',
    '/v3/lab_tests/1.5/markers/QM10007',
  ])('return 422 for an invalid ID in %s', async (path) => {
    const response = await fetch(w.base + path, { headers: { 'x-service-api-key': w.team_api_key } })
    expect(response.status).toBe(422)
  })
})

describe('lab accounts', () => {
  test("include one platform account per lab with the lab's billing types and states", async () => {
    const { data } = await w.api.listLabAccounts()
    expect(data.map(({ lab, org_id, status }) => [lab, org_id, status])).toEqual(
      ['quillmoor', 'wrenfield', 'larkstone', 'mossgate', 'aldermere'].map((lab) => [lab, null, 'active']),
    )
    expect(Object.keys(data[1]?.allowed_billing ?? {})).toEqual(['client_bill', 'patient_bill_passthrough'])
    expect(data[1]?.allowed_billing['client_bill']).not.toContain('AK')
  })

  test('of an organization are available to allowlisted teams and limited to one lab', async () => {
    const mine = await w.tenant()
    const other = await w.tenant()
    const lab_account_id = await aLabAccount(w.app.db, mine)
    const suspended = await aLabAccount(w.app.db, { ...mine, status: 'suspended' })
    const accountAtLab2 = await aLabAccount(w.app.db, { ...mine, lab_id: 2 })
    expect((await mine.api.listLabAccounts({ query: { lab_account_id } })).data).toMatchObject([
      {
        id: lab_account_id,
        lab: 'quillmoor',
        org_id: mine.org_id,
        team_id_allowlist: [mine.team_id],
        allowed_billing: { client_bill: ['AZ', 'CA'] },
      },
    ])
    expect((await mine.api.listLabAccounts({ query: { status: 'suspended' } })).data.map(({ id }) => id)).toEqual([suspended])
    expect((await other.api.listLabAccounts({ query: { lab_account_id } })).data).toEqual([])

    expect(await mine.api.createLabTest({ body: aTest({ lab_account_id }) })).toMatchObject({ status: 'active' })
    const errorFor = async (lab_account_id: string) =>
      (await errorOf(mine.api.createLabTest({ body: aTest({ lab_account_id }) }))).detail['error_type']
    expect(await errorFor(suspended)).toBe('LAB_ACCOUNT_INACTIVE')
    expect((await mine.api.listLabTests({ query: { lab_account_id: accountAtLab2 } })).data.every(({ lab }) => lab?.id === 2)).toBe(true)
    expect((await mine.api.listMarkers({ query: { lab_account_id: accountAtLab2 } })).markers.every(({ lab_id }) => lab_id === 2)).toBe(
      true,
    )
    expect(await mine.api.listMarkers({ query: { lab_account_id: accountAtLab2, lab_id: [1] } })).toMatchObject({ markers: [], total: 0 })
    const params = { lab_test_id: WELLNESS }
    expect(await errorOf(mine.api.getLabTest({ params, query: { lab_account_id: accountAtLab2 } }))).toMatchObject(
      rejection(400, 'LAB_ACCOUNT_OF_ANOTHER_LAB'),
    )
  })
})

const needsAnswers = (markers: { aoe: { questions: { required: boolean }[] } | null }[]) =>
  markers.some(({ aoe }) => aoe?.questions.some(({ required }) => required))

test('finds more lab tests than the cache holds', async () => {
  const { team_id } = await w.tenant()
  const created = await query<{ id: string }>(
    w.url,
    `insert into team_lab_tests (team_id, id, lab_id, slug, name, description, method, sample_type, price, fasting,
       has_collection_instructions, marker_ids, created_at, updated_at)
     select $1, gen_random_uuid(), lab_id, slug || n, name, description, method, sample_type, price, fasting,
       has_collection_instructions, marker_ids, created_at, updated_at
     from lab_tests, generate_series(1, 2001) as n where id = $2 returning id`,
    [team_id, WELLNESS],
  )
  const ids = created.map(({ id }) => id)
  await loadLabTestsById(w.app, team_id, ids.slice(1))
  expect((await loadLabTestsById(w.app, team_id, ids)).size).toBe(2001)
})
