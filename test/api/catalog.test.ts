import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { methods } from '../../src/contract/labs/lifecycle.ts'
import { labTestsById } from '../../src/labs/catalog/actions.ts'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import { query } from '../support/cluster.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { newUuid } from '../support/seeded.ts'
import { newDatabase, refusal, replica, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const LIPID = 1001
const CMP = 1002
const WELLNESS = 'f49f0523-b294-5a04-8de6-7a4ceb5d8762'
const aTest = (change: object = {}) => ({
  name: 'Baseline',
  description: 'What we start with.',
  method: 'walk_in_test' as const,
  marker_ids: [LIPID, CMP],
  ...change,
})
const refused = (status: number, error_type: string) => ({ status, detail: { error_type } })

describe('the catalogue', () => {
  test('is the same for every team and has a test for each method that needs no answers', async () => {
    const other = await w.tenant()
    const tests = await w.api.listAllLabTests()
    expect(await other.api.listAllLabTests()).toEqual(tests)
    for (const method of methods) {
      const simple = tests.filter((one) => one.method === method && one.status === 'active' && !needsAnswers(one.markers ?? []))
      expect([method, simple.length > 0]).toEqual([method, true])
    }
  })

  test('shows a test with its lab and markers, as the spec has it', async () => {
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

  test('is loaded once: a second start writes nothing, a changed file is loaded over what is there', async () => {
    const rows = () => query(w.url, 'select xmin::text, to_jsonb(t) as row from lab_tests t order by id')
    const before = await rows()
    await loadCatalog(w.app)
    expect(await rows()).toEqual(before)
    await query(w.url, "update catalogue set version = 'older'; update labs set name = 'Old name' where id = 1; delete from icd_codes")
    const accounts = await w.api.listLabAccounts()
    await Promise.all([loadCatalog(w.app), loadCatalog(w.app)])
    expect((await w.api.listLabs())[0]?.name).toBe('Quillmoor Reference Laboratory')
    expect(await w.api.searchDiagnoses({ query: { diagnosis_query: 'E785' } })).toHaveLength(1)
    expect(await w.api.listLabAccounts()).toEqual(accounts)
  })

  test('is empty in production until somebody loads it', async () => {
    const { api } = await world({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
    expect([await api.listAllLabTests(), await api.listLabs()]).toEqual([[], []])
    expect(await refusal(api.createLabTest({ body: aTest() }))).toMatchObject(refused(400, 'UNKNOWN_MARKER'))
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
  ])('by %j', async (query, names) => {
    expect((await namesOf(query)).sort()).toEqual(names)
  })

  test.each(['price', 'created_at', 'updated_at'] as const)(
    'ordered by %s goes through every test once, in either direction',
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

  test('refuses the cursor of another order and limits out of range', async () => {
    const { next_cursor } = await w.api.listLabTests({ query: { order_key: 'price', lab_test_limit: 1 } })
    expect(await refusal(w.api.listLabTests({ query: { next_cursor } }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['query', 'next_cursor'] }],
    })
    for (const lab_test_limit of [0, 501, -1]) expect((await refusal(w.api.listLabTests({ query: { lab_test_limit } }))).status).toBe(422)
  })

  test('gives prices in cents when asked, with each marker', async () => {
    const { data, pricing } = await w.api.listLabTests({ query: { name: 'Essential', include_pricing: true } })
    expect(data).toHaveLength(1)
    expect(pricing).toMatchObject({
      currency: 'USD',
      data: { [WELLNESS]: { pricing: { base_amount_minor: 7900 }, marker_breakdown: { 1001: { base_amount_minor: 1800 } } } },
    })
    expect(await w.api.listLabTests({ query: { name: 'Essential' } })).not.toHaveProperty('pricing')
  })

  test('all at once is deprecated and says so', async () => {
    const answer = await sendRequest(w.base, endpoints.listAllLabTests, { headers: { 'x-service-api-key': w.team_api_key } })
    expect([answer.status, answer.headers.get('deprecation')]).toEqual([200, '@1759276800'])
  })
})

describe("a team's own lab test", () => {
  test('is made of markers, active at once in the sandbox, and seen by its team only', async () => {
    const mine = await w.tenant()
    const other = await w.tenant()
    const made = await mine.api.createLabTest({ body: aTest({ fasting: true, marker_ids: [CMP, LIPID, CMP] }) })
    expect(made).toMatchObject({
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
    expect(await mine.api.getLabTest({ params: { lab_test_id: made.id } })).toEqual(made)
    expect((await mine.api.listAllLabTests()).at(-1)).toEqual(made)
    expect((await mine.api.listLabTests({ query: { own: true } })).data).toEqual([made])
    const catalogue = (await mine.api.listLabTests({ query: { own: false, lab_test_limit: 500 } })).data
    expect(catalogue).toEqual((await other.api.listLabTests({ query: { lab_test_limit: 500 } })).data)
    expect(await refusal(other.api.getLabTest({ params: { lab_test_id: made.id } }))).toMatchObject(refused(404, 'LAB_TEST_NOT_FOUND'))
    expect((await other.api.listAllLabTests()).map(({ id }) => id)).not.toContain(made.id)
  })

  test("can be named by the lab's codes", async () => {
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
  ])('is refused with %j', async (change, error_type) => {
    expect(await refusal(w.api.createLabTest({ body: aTest(change) }))).toMatchObject(refused(400, error_type))
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: undefined }, 'name'],
    [{ method: 'by_post' }, 'method'],
    [{ description: undefined }, 'description'],
    [{ marker_ids: ['one'] }, 'marker_ids'],
    [{ marker_ids: [2_147_483_648] }, 'marker_ids'],
  ])('of the wrong shape, %j, is 422', async (change, field) => {
    const { status, detail } = await refusal(w.api.createLabTest({ body: aTest(change) }))
    expect([status, (detail as unknown as { loc: string[] }[])[0]?.loc.slice(0, 2)]).toEqual([422, ['body', field]])
  })

  test('is renamed, archived and taken out of the archive', async () => {
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
      expect(await refusal(w.api.patchLabTest({ params, body }))).toMatchObject(refused(400, 'NOTHING_TO_PATCH'))
  })

  test('is all that a team may change: the catalogue stays', async () => {
    const params = { lab_test_id: WELLNESS }
    const before = await w.api.getLabTest({ params })
    expect(await refusal(w.api.patchLabTest({ params, body: { active: false } }))).toMatchObject(refused(400, 'SHARED_LAB_TEST'))
    expect(await w.api.getLabTest({ params })).toEqual(before)
  })

  test('waits for the operator in production, and the archive is no way around', async () => {
    const there = await replica({ database: await newDatabase(), env: { ENVIRONMENT: 'production' } })
    await loadCatalog(there.app)
    const { api } = await there.tenant()
    const { id, status, is_active } = await api.createLabTest({ body: aTest() })
    expect([status, is_active]).toEqual(['pending_approval', false])
    const params = { lab_test_id: id }
    await api.patchLabTest({ params, body: { active: false } })
    expect(await api.patchLabTest({ params, body: { active: true } })).toMatchObject({ status: 'pending_approval' })
  })

  test('goes with its team', async () => {
    const mine = await w.tenant()
    const { id } = await mine.api.createLabTest({ body: aTest() })
    await query(w.url, 'delete from teams where id = $1', [mine.team_id])
    expect(await query(w.url, 'select 1 from lab_test_markers where lab_test_id = $1', [id])).toEqual([])
  })
})

describe('markers', () => {
  test('are listed in pages, with what they will report', async () => {
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

  test('can be narrowed by lab, name and a la carte, with prices', async () => {
    const found = async (query: object) => (await w.api.listMarkers({ query: { size: 100, ...query } })).markers
    expect(new Set((await found({ lab_id: [3, 4] })).map(({ lab_id }) => lab_id))).toEqual(new Set([3, 4]))
    expect(new Set((await found({ lab_slug: 'larkstone' })).map(({ lab_id }) => lab_id))).toEqual(new Set([3]))
    expect((await found({ name: 'lipid pan', lab_id: [1] })).map(({ id }) => id)).toEqual([LIPID])
    expect((await found({ a_la_carte_enabled: false })).every((marker) => !marker.a_la_carte_enabled)).toBe(true)
    const priced = await w.api.listMarkers({ query: { lab_id: [1], name: 'lipid', include_pricing: true } })
    expect(priced.pricing).toMatchObject({ currency: 'USD', data: { [LIPID]: { base_amount_minor: 1800 } } })
  })

  test('of a lab test, of an order set, and one by the code of its lab', async () => {
    const params = { lab_test_id: WELLNESS }
    const ofTest = await w.api.listLabTestMarkers({ params, query: { size: 2, page: 2 } })
    expect(ofTest).toMatchObject({ total: 5, pages: 3, markers: [{ id: 1006 }, { id: 1019 }] })
    const set = await w.api.listOrderSetMarkers({ body: { lab_test_ids: [WELLNESS], add_on: { marker_ids: [LIPID, 1012] } } })
    expect(set.markers.map(({ id }) => id)).toEqual([1001, 1002, 1006, 1012, 1019, 1021])
    const byCode = await w.api.listOrderSetMarkers({ body: { add_on: { provider_ids: ['QM10007'] } } })
    expect(byCode.markers.map(({ id }) => id)).toEqual([LIPID])
    expect(await w.api.getMarker({ params: { lab_id: 1, provider_id: 'QM10007' } })).toMatchObject({ id: LIPID, slug: 'lipid-panel' })
    expect(await refusal(w.api.getMarker({ params: { lab_id: 2, provider_id: 'QM10007' } }))).toMatchObject(
      refused(404, 'MARKER_NOT_FOUND'),
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
  ])('of the order set %j are refused', async (body, error_type) => {
    expect(await refusal(w.api.listOrderSetMarkers({ body }))).toMatchObject(refused(400, error_type))
  })

  test.each([
    '/v3/lab_tests/markersx',
    '/v3/lab_tests/one/markers/QM10007',
    '/v3/lab_tests/1/markers',
    '/v3/lab_tests/1.5/markers/QM10007',
  ])('%s is a wrong id, not another route', async (path) => {
    const answer = await fetch(w.base + path, { headers: { 'x-service-api-key': w.team_api_key } })
    expect(answer.status).toBe(422)
  })
})

describe('lab accounts', () => {
  test('every lab has one of the platform, where and as the lab bills', async () => {
    const { data } = await w.api.listLabAccounts()
    expect(data.map(({ lab, org_id, status }) => [lab, org_id, status])).toEqual(
      ['quillmoor', 'wrenfield', 'larkstone', 'mossgate', 'aldermere'].map((lab) => [lab, null, 'active']),
    )
    expect(Object.keys(data[1]?.allowed_billing ?? {})).toEqual(['client_bill', 'patient_bill_passthrough'])
    expect(data[1]?.allowed_billing['client_bill']).not.toContain('AK')
  })

  test("an organisation's account is there for the teams that it is open to", async () => {
    const mine = await w.tenant()
    const other = await w.tenant()
    const lab_account_id = await aLabAccount(w.app.db, mine)
    const suspended = await aLabAccount(w.app.db, { ...mine, status: 'suspended' })
    const at_two = await aLabAccount(w.app.db, { ...mine, lab_id: 2 })
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
    const refusedWith = async (lab_account_id: string) =>
      (await refusal(mine.api.createLabTest({ body: aTest({ lab_account_id }) }))).detail['error_type']
    expect(await refusedWith(suspended)).toBe('LAB_ACCOUNT_INACTIVE')
    expect((await mine.api.listLabTests({ query: { lab_account_id: at_two } })).data.every(({ lab }) => lab?.id === 2)).toBe(true)
    expect((await mine.api.listMarkers({ query: { lab_account_id: at_two } })).markers.every(({ lab_id }) => lab_id === 2)).toBe(true)
    expect(await mine.api.listMarkers({ query: { lab_account_id: at_two, lab_id: [1] } })).toMatchObject({ markers: [], total: 0 })
    const params = { lab_test_id: WELLNESS }
    expect(await refusal(mine.api.getLabTest({ params, query: { lab_account_id: at_two } }))).toMatchObject(
      refused(400, 'LAB_ACCOUNT_OF_ANOTHER_LAB'),
    )
  })
})

const needsAnswers = (markers: { aoe: { questions: { required: boolean }[] } | null }[]) =>
  markers.some(({ aoe }) => aoe?.questions.some(({ required }) => required))

test('more tests than are kept in memory are all found', async () => {
  const { team_id } = await w.tenant()
  const made = await query<{ id: string }>(
    w.url,
    `insert into lab_tests (id, team_id, lab_id, slug, name, description, method, sample_type, price, fasting,
       has_collection_instructions, created_at, updated_at)
     select gen_random_uuid(), $1, lab_id, slug || n, name, description, method, sample_type, price, fasting,
       has_collection_instructions, created_at, updated_at
     from lab_tests, generate_series(1, 2001) as n where id = $2 returning id`,
    [team_id, WELLNESS],
  )
  const ids = made.map(({ id }) => id)
  await labTestsById(w.app, team_id, ids.slice(1))
  expect((await labTestsById(w.app, team_id, ids)).size).toBe(2001)
})
