import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { aPatient, aUser, placeOrder, testId, tests } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
w.setTimeToNoon()
const { api, advanceTime, runJobs } = w
type Query = Parameters<Client['listOrders']>[0] extends { query?: infer Q } | undefined ? Q : never

const simulate = (order_id: string, query: object = {}, body: object = {}) =>
  api.simulateOrder({ params: { order_id }, query, body: body as never })
const today = (days = 0) => later(w.app.now(), days * DAY).slice(0, 10)

/** Four orders, a day apart, each of another person, method, status and outcome. */
async function fourOrders() {
  const zeph = await placeOrder(api, 'walk_in_test', { patient_details: aPatient() })
  await runJobs()
  await simulate(zeph.id, {}, { interpretation: 'critical' })
  advanceTime(DAY)
  const bart = await placeOrder(api, 'at_home_phlebotomy', {
    patient_details: aPatient({}, people[1]),
    patient_address: anAddress({ receiver_name: `${people[2].first_name} ${people[2].last_name}` }),
  })
  await runJobs()
  advanceTime(DAY)
  const { order: kit } = await api.createTestkitOrder({
    body: {
      user_id: await aUser(api),
      lab_test_id: await testId(api, tests.testkit),
      shipping_details: { ...anAddress(), receiver_name: `${people[0].first_name} Reception`, phone_number: people[0].phone_number },
    },
  })
  await runJobs()
  advanceTime(DAY)
  const held = await placeOrder(api, 'on_site_collection', { patient_details: aPatient({}, people[2]), activate_by: today(9) })
  await runJobs()
  advanceTime(DAY)
  await simulate(bart.id, { final_status: 'sample_with_lab.at_home_phlebotomy.partial_results' }, { interpretation: 'abnormal' })
  const read = async ({ id }: { id: string }) => api.getOrder({ params: { order_id: id } })
  return { zeph: await read(zeph), bart: await read(bart), kit: await read(kit), held: await read(held) }
}

const four = await fourOrders()
const { zeph, bart, kit, held } = four
const nameOf = new Map(Object.entries(four).map(([name, { id }]) => [id, name]))

const listed = async (query: Query) => (await api.listOrders({ query })).orders.map(({ id }) => nameOf.get(id))
const dayOf = (moment: string) => moment.slice(0, 10)

test('orders come newest first, as each is read alone, under both paths', async () => {
  const list = await api.listOrders({ query: {} })
  expect(list).toEqual({ orders: [held, kit, bart, zeph], total: 4, total_is_lower_bound: false, page: 1, size: 50 })
  const headers = { 'x-service-api-key': w.team_api_key }
  for (const path of ['/orders', '/v3/orders']) expect(await (await fetch(w.base + path, { headers })).json()).toEqual(list)
})

test.each<[string, Query, string[]]>([
  ['one status', { status: ['completed'] }, ['zeph']],
  ['several statuses', { status: ['partial_results', 'awaiting_registration'] }, ['kit', 'bart']],
  ['a status that none has', { status: ['lost'] }, []],
  ['one method', { order_type: ['on_site_collection'] }, ['held']],
  ['several methods', { order_type: ['testkit', 'walk_in_test'] }, ['kit', 'zeph']],
  ['what is critical', { is_critical: true }, ['zeph']],
  ['what is not critical', { is_critical: false }, ['held', 'kit', 'bart']],
  ['the interpretation critical', { interpretation: 'critical' }, ['zeph']],
  ['the interpretation abnormal', { interpretation: 'abnormal' }, ['bart']],
  ['the interpretation normal', { interpretation: 'normal' }, []],
  ['an activation ahead', { order_activation_types: ['scheduled'] }, ['held']],
  ['no activation ahead', { order_activation_types: ['current'] }, ['kit', 'bart', 'zeph']],
  ['either activation', { order_activation_types: ['current', 'scheduled'] }, ['held', 'kit', 'bart', 'zeph']],
  ['a user', { user_id: bart.user_id }, ['bart']],
  ['ids', { order_ids: [zeph.id, held.id] }, ['held', 'zeph']],
  ['a transaction', { order_transaction_id: kit.order_transaction?.id }, ['kit']],
  ['a patient', { patient_name: people[0].last_name }, ['zeph']],
  ['the beginning of a name, whatever its case', { patient_name: 'QUILLF' }, ['zeph']],
  ['a name without its accents', { patient_name: 'bartholomaus' }, ['bart']],
  ['a name with its accents', { patient_name: 'ödegård' }, ['bart']],
  ['two words of a name, in any order', { patient_name: 'nkeme barth' }, ['bart']],
  ['words of two people', { patient_name: 'barth quill' }, []],
  ['a name with an apostrophe', { patient_name: people[2].last_name }, ['held']],
  ['a text without a word', { patient_name: '—' }, []],
  ['the recipient of a kit', { shipping_recipient_name: 'zephyrine recep' }, ['kit']],
  ['the recipient at an address', { shipping_recipient_name: 'ysoldemarie' }, ['bart']],
  ['patient and status together', { patient_name: 'barth', status: ['completed'] }, []],
  ['a search by the name of patient or recipient', { search_input: people[0].first_name }, ['kit', 'zeph']],
  ['a search by two words', { search_input: 'Ysoldemarie Thistlewick' }, ['held', 'bart']],
  ['a search by an order id', { search_input: bart.id }, ['bart']],
  ['a search by the beginning of an order id', { search_input: held.id.slice(0, 13).toUpperCase() }, ['held']],
  ['a search by a user id', { search_input: kit.user_id }, ['kit']],
  ['a search by a sample id', { search_input: kit.sample_id as string }, ['kit']],
  ['a search by the beginning of a sample id', { search_input: (zeph.sample_id as string).slice(0, 9).toLowerCase() }, ['zeph']],
  ['a search by what looks like a pattern', { search_input: '%' }, []],
])('the list is narrowed by %s', async (_, query, expected) => {
  expect(await listed(query)).toEqual(expected)
  expect((await api.listOrders({ query })).total).toBe(expected.length)
})

test.each<[string, Query, string[]]>([
  ['from a day on', { start_date: dayOf(bart.created_at) }, ['held', 'kit', 'bart']],
  ['to the end of a day', { end_date: dayOf(bart.created_at) }, ['bart', 'zeph']],
  ['on one day', { start_date: dayOf(kit.created_at), end_date: dayOf(kit.created_at) }, ['kit']],
  ['from a moment on, which is part of it', { start_date: kit.created_at }, ['held', 'kit']],
  ['from a moment after it', { start_date: later(kit.created_at, 1) }, ['held']],
  ['to a moment, which is part of it', { end_date: kit.created_at }, ['kit', 'bart', 'zeph']],
  ['in another zone', { start_date: new Date(Date.parse(held.created_at)).toISOString().replace('Z', '+00:00') }, ['held']],
  ['changed from a day on', { updated_start_date: dayOf(bart.updated_at) }, ['bart']],
  ['changed to the end of a day', { updated_end_date: dayOf(kit.updated_at) }, ['kit', 'zeph']],
  ['changed from a moment on', { updated_start_date: kit.updated_at }, ['held', 'kit', 'bart']],
  ['changed to a moment', { updated_end_date: zeph.updated_at }, ['zeph']],
  ['created before, changed after', { end_date: dayOf(bart.created_at), updated_start_date: dayOf(held.created_at) }, ['bart']],
])('orders are found by when they were %s', async (_, query, expected) => {
  expect(await listed(query)).toEqual(expected)
})

test.each<[string, Query, string[]]>([
  ['created_at', { order_key: 'created_at' }, ['held', 'kit', 'bart', 'zeph']],
  ['created_at asc', { order_key: 'created_at', order_direction: 'asc' }, ['zeph', 'bart', 'kit', 'held']],
  ['the direction alone', { order_direction: 'asc' }, ['zeph', 'bart', 'kit', 'held']],
  ['last_status', { order_key: 'last_status' }, ['bart', 'held', 'zeph', 'kit']],
  ['last_status asc', { order_key: 'last_status', order_direction: 'asc' }, ['kit', 'zeph', 'held', 'bart']],
  ['patient_name', { order_key: 'patient_name' }, ['kit', 'held', 'bart', 'zeph']],
  ['patient_name desc', { order_key: 'patient_name', order_direction: 'desc' }, ['zeph', 'bart', 'held', 'kit']],
])('the list is sorted by %s', async (_, query, expected) => {
  expect(await listed(query)).toEqual(expected)
})

test('names are sorted by last name, then first name, then the newer order, without case', async () => {
  const { api } = await w.tenant()
  const called = async (first_name: string, last_name: string) =>
    (await placeOrder(api, 'walk_in_test', { patient_details: aPatient({ first_name, last_name }) })).id
  const feather = await called('Ann', people[0].last_name)
  const quill = await called('Zephyrine', 'quill')
  const older = await called('Ann', 'Quill')
  advanceTime(1)
  const newer = await called('ann', 'QUILL')
  const found = async (order_direction: 'asc' | 'desc') =>
    (await api.listOrders({ query: { order_key: 'patient_name', order_direction } })).orders.map(({ id }) => id)
  expect(await found('asc')).toEqual([newer, older, quill, feather])
  expect(await found('desc')).toEqual([feather, quill, newer, older])
})

test('pages cut the list in its order, by name too, and know the total', async () => {
  const page = async (query: Query) => {
    const { orders, ...rest } = await api.listOrders({ query })
    return { ...rest, orders: orders.map(({ id }) => nameOf.get(id)) }
  }
  const four = { total: 4, total_is_lower_bound: false }
  expect(await page({ size: 3 })).toEqual({ ...four, page: 1, size: 3, orders: ['held', 'kit', 'bart'] })
  expect(await page({ size: 3, page: 2 })).toEqual({ ...four, page: 2, size: 3, orders: ['zeph'] })
  expect(await page({ size: 3, page: 3 })).toEqual({ ...four, page: 3, size: 3, orders: [] })
  expect(await page({ size: 2, page: 2, order_key: 'patient_name' })).toEqual({ ...four, page: 2, size: 2, orders: ['bart', 'zeph'] })
  expect(await page({ size: 100, page: 1_000_000 })).toEqual({ ...four, page: 1_000_000, size: 100, orders: [] })
})

test('an activation of today counts as current, one of tomorrow as scheduled', async () => {
  const { api } = await w.tenant()
  const due = await placeOrder(api, 'walk_in_test', { activate_by: today() })
  const ahead = await placeOrder(api, 'walk_in_test', { activate_by: today(1) })
  const found = async (type: 'current' | 'scheduled') =>
    (await api.listOrders({ query: { order_activation_types: [type] } })).orders.map(({ id }) => id)
  expect(await found('current')).toEqual([due.id])
  expect(await found('scheduled')).toEqual([ahead.id])
})

test.each<[string, string, string]>([
  ['status', 'finished', 'status'],
  ['status', 'completed.walk_in_test.completed', 'status'],
  ['order_type', 'post', 'order_type'],
  ['order_key', 'price', 'order_key'],
  ['order_direction', 'up', 'order_direction'],
  ['interpretation', 'bad', 'interpretation'],
  ['is_critical', 'maybe', 'is_critical'],
  ['order_activation_types', 'later', 'order_activation_types'],
  ['start_date', 'yesterday', 'start_date'],
  ['end_date', '2026-02-30', 'end_date'],
  ['updated_start_date', '2026-01-01T09:00:00', 'updated_start_date'],
  ['user_id', 'me', 'user_id'],
  ['order_ids', 'one', 'order_ids'],
  ['order_transaction_id', 'one', 'order_transaction_id'],
  ['page', '0', 'page'],
  ['size', '0', 'size'],
  ['size', '101', 'size'],
  ['search_input', '', 'search_input'],
])('%s=%s is refused by name', async (name, value, field) => {
  const { status, detail } = await errorOf(api.listOrders({ query: { [name]: value } as never }))
  expect(status).toBe(422)
  expect((detail as unknown as { loc: unknown[] }[])[0]?.loc.slice(0, 2)).toEqual(['query', field])
})

test('a user that is unknown, or of another team, is not found', async () => {
  const stranger = await w.tenant()
  for (const user_id of [await aUser(stranger.api), '00000000-0000-4000-8000-000000000000'])
    expect(await errorOf(api.listOrders({ query: { user_id } }))).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
})

test('orders of another team are never listed, whatever is asked for', async () => {
  const { api } = await w.tenant()
  const everything: Query[] = [
    {},
    { order_ids: [zeph.id, kit.id] },
    { order_transaction_id: bart.order_transaction?.id },
    { search_input: zeph.id },
    { search_input: kit.sample_id as string },
    { patient_name: people[0].last_name },
    { order_key: 'patient_name' },
  ]
  for (const query of everything) expect(await api.listOrders({ query })).toMatchObject({ orders: [], total: 0 })
})

test('totals are exact to 10,000 and a lower bound beyond; so many are not sorted by name', async () => {
  const { api, team_id } = await w.tenant()
  const newest = await placeOrder(api)
  await copies(newest.id, team_id, 9_999)
  const query = { size: 1 }
  expect(await api.listOrders({ query })).toEqual({ orders: [newest], total: 10_000, total_is_lower_bound: false, page: 1, size: 1 })
  await copies(newest.id, team_id, 1)
  expect(await api.listOrders({ query })).toEqual({ orders: [newest], total: 10_000, total_is_lower_bound: true, page: 1, size: 1 })

  const byName = { size: 1, order_key: 'patient_name' } as const
  expect(await errorOf(api.listOrders({ query: byName }))).toMatchObject({ status: 400, detail: { error_type: 'TOO_MANY_TO_SORT' } })
  expect(await api.listOrders({ query: { ...byName, start_date: newest.created_at } })).toMatchObject({ orders: [newest], total: 1 })
})

/** Older rows like the order's; they are counted and never read. */
const copies = (id: string, team_id: string, count: number) =>
  sql`insert into orders select (jsonb_populate_record(o, jsonb_build_object(
      'id', gen_random_uuid(), 'transaction_id', gen_random_uuid(), 'dispatch_at', null, 'terms', '[]'::jsonb, 'created_at', o.created_at - interval '1 day'))).*
    from orders o, generate_series(1, ${count}) where o.id = ${id} and o.team_id = ${team_id}`.execute(w.app.db)
