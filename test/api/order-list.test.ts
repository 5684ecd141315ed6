import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { aPatient, placeOrder, testId, tests } from '../support/orders.ts'
import { anAddress, people } from '../support/people.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
w.setTimeToNoon()
const { api, advanceTime, runJobs } = w
type Query = Parameters<Client['listOrders']>[0] extends { query?: infer Q } | undefined ? Q : never

const simulate = (order_id: string, query: object = {}, body: object = {}) =>
  api.simulateOrder({ params: { order_id }, query, body: body as never })
const today = (days = 0) => later(w.app.now(), days * DAY).slice(0, 10)

/** Places four orders, one day apart, with different patients, methods, statuses and outcomes. */
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

const namesFor = async (query: Query) => (await api.listOrders({ query })).orders.map(({ id }) => nameOf.get(id))
const dayOf = (moment: string) => moment.slice(0, 10)

test('lists orders newest first, as single reads return them, under both paths', async () => {
  const list = await api.listOrders({ query: {} })
  expect(list).toEqual({ orders: [held, kit, bart, zeph], total: 4, total_is_lower_bound: false, page: 1, size: 50 })
  const headers = { 'x-service-api-key': w.team_api_key }
  for (const path of ['/orders', '/v3/orders']) expect(await (await fetch(w.base + path, { headers })).json()).toEqual(list)
})

test.each<[string, Query, string[]]>([
  ['one status', { status: ['completed'] }, ['zeph']],
  ['several statuses', { status: ['partial_results', 'awaiting_registration'] }, ['kit', 'bart']],
  ['a status without orders', { status: ['lost'] }, []],
  ['one method', { order_type: ['on_site_collection'] }, ['held']],
  ['several methods', { order_type: ['testkit', 'walk_in_test'] }, ['kit', 'zeph']],
  ['is_critical true', { is_critical: true }, ['zeph']],
  ['is_critical false', { is_critical: false }, ['held', 'kit', 'bart']],
  ['the interpretation critical', { interpretation: 'critical' }, ['zeph']],
  ['the interpretation abnormal', { interpretation: 'abnormal' }, ['bart']],
  ['the interpretation normal', { interpretation: 'normal' }, []],
  ['a scheduled activation', { order_activation_types: ['scheduled'] }, ['held']],
  ['a current activation', { order_activation_types: ['current'] }, ['kit', 'bart', 'zeph']],
  ['either activation', { order_activation_types: ['current', 'scheduled'] }, ['held', 'kit', 'bart', 'zeph']],
  ['a user', { user_id: bart.user_id }, ['bart']],
  ['order IDs', { order_ids: [zeph.id, held.id] }, ['held', 'zeph']],
  ['a transaction', { order_transaction_id: kit.order_transaction?.id }, ['kit']],
  ['a patient', { patient_name: people[0].last_name }, ['zeph']],
  ['the prefix of a name, in any case', { patient_name: 'QUILLF' }, ['zeph']],
  ['a name without its accents', { patient_name: 'bartholomaus' }, ['bart']],
  ['a name with its accents', { patient_name: 'ödegård' }, ['bart']],
  ['two words of a name, in any order', { patient_name: 'nkeme barth' }, ['bart']],
  ['words of two people', { patient_name: 'barth quill' }, []],
  ['a name with an apostrophe', { patient_name: people[2].last_name }, ['held']],
  ['text without a word', { patient_name: '—' }, []],
  ['the recipient of a kit', { shipping_recipient_name: 'zephyrine recep' }, ['kit']],
  ['the recipient at an address', { shipping_recipient_name: 'ysoldemarie' }, ['bart']],
  ['patient and status together', { patient_name: 'barth', status: ['completed'] }, []],
  ['a search by the name of patient or recipient', { search_input: people[0].first_name }, ['kit', 'zeph']],
  ['a search by two words', { search_input: 'Ysoldemarie Thistlewick' }, ['held', 'bart']],
  ['a search by an order ID', { search_input: bart.id }, ['bart']],
  ['a search by an order ID prefix', { search_input: held.id.slice(0, 13).toUpperCase() }, ['held']],
  ['a search by a user ID', { search_input: kit.user_id }, ['kit']],
  ['a search by a specimen ID', { search_input: kit.sample_id as string }, ['kit']],
  ['a search by a specimen ID prefix', { search_input: (zeph.sample_id as string).slice(0, 9).toLowerCase() }, ['zeph']],
  ['a search by a wildcard character', { search_input: '%' }, []],
])('filters by %s', async (_, query, expected) => {
  expect(await namesFor(query)).toEqual(expected)
  expect((await api.listOrders({ query })).total).toBe(expected.length)
})

test.each<[string, Query, string[]]>([
  ['created from a date', { start_date: dayOf(bart.created_at) }, ['held', 'kit', 'bart']],
  ['created until a date', { end_date: dayOf(bart.created_at) }, ['bart', 'zeph']],
  ['created on a date', { start_date: dayOf(kit.created_at), end_date: dayOf(kit.created_at) }, ['kit']],
  ['created from a timestamp, inclusive', { start_date: kit.created_at }, ['held', 'kit']],
  ['created after a timestamp', { start_date: later(kit.created_at, 1) }, ['held']],
  ['created until a timestamp, inclusive', { end_date: kit.created_at }, ['kit', 'bart', 'zeph']],
  [
    'created from a timestamp with an offset',
    { start_date: new Date(Date.parse(held.created_at)).toISOString().replace('Z', '+00:00') },
    ['held'],
  ],
  ['updated from a date', { updated_start_date: dayOf(bart.updated_at) }, ['bart']],
  ['updated until a date', { updated_end_date: dayOf(kit.updated_at) }, ['kit', 'zeph']],
  ['updated from a timestamp', { updated_start_date: kit.updated_at }, ['held', 'kit', 'bart']],
  ['updated until a timestamp', { updated_end_date: zeph.updated_at }, ['zeph']],
  [
    'created until one date and updated from another',
    { end_date: dayOf(bart.created_at), updated_start_date: dayOf(held.created_at) },
    ['bart'],
  ],
])('finds orders %s', async (_, query, expected) => {
  expect(await namesFor(query)).toEqual(expected)
})

test.each<[string, Query, string[]]>([
  ['created_at', { order_key: 'created_at' }, ['held', 'kit', 'bart', 'zeph']],
  ['created_at asc', { order_key: 'created_at', order_direction: 'asc' }, ['zeph', 'bart', 'kit', 'held']],
  ['order_direction only', { order_direction: 'asc' }, ['zeph', 'bart', 'kit', 'held']],
  ['last_status', { order_key: 'last_status' }, ['bart', 'held', 'zeph', 'kit']],
  ['last_status asc', { order_key: 'last_status', order_direction: 'asc' }, ['kit', 'zeph', 'held', 'bart']],
  ['patient_name', { order_key: 'patient_name' }, ['kit', 'held', 'bart', 'zeph']],
  ['patient_name desc', { order_key: 'patient_name', order_direction: 'desc' }, ['zeph', 'bart', 'held', 'kit']],
])('sorts by %s', async (_, query, expected) => {
  expect(await namesFor(query)).toEqual(expected)
})

test('sorts by last name, first name and newest order, ignoring case', async () => {
  const { api } = await w.tenant()
  const placeFor = async (first_name: string, last_name: string) =>
    (await placeOrder(api, 'walk_in_test', { patient_details: aPatient({ first_name, last_name }) })).id
  const feather = await placeFor('Ann', people[0].last_name)
  const quill = await placeFor('Zephyrine', 'quill')
  const older = await placeFor('Ann', 'Quill')
  advanceTime(1)
  const newer = await placeFor('ann', 'QUILL')
  const idsFor = async (order_direction: 'asc' | 'desc') =>
    (await api.listOrders({ query: { order_key: 'patient_name', order_direction } })).orders.map(({ id }) => id)
  expect(await idsFor('asc')).toEqual([newer, older, quill, feather])
  expect(await idsFor('desc')).toEqual([feather, quill, newer, older])
})

test('returns pages in sort order with the total', async () => {
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

test('treats an activation today as current and one tomorrow as scheduled', async () => {
  const { api } = await w.tenant()
  const due = await placeOrder(api, 'walk_in_test', { activate_by: today() })
  const ahead = await placeOrder(api, 'walk_in_test', { activate_by: today(1) })
  const idsFor = async (type: 'current' | 'scheduled') =>
    (await api.listOrders({ query: { order_activation_types: [type] } })).orders.map(({ id }) => id)
  expect(await idsFor('current')).toEqual([due.id])
  expect(await idsFor('scheduled')).toEqual([ahead.id])
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
  ['updated_start_date', '2026-01-01T25:00:00', 'updated_start_date'],
  ['user_id', 'me', 'user_id'],
  ['order_ids', 'one', 'order_ids'],
  ['order_transaction_id', 'one', 'order_transaction_id'],
  ['page', '0', 'page'],
  ['size', '0', 'size'],
  ['size', '101', 'size'],
])('rejects %s=%s and names the field', async (name, value, field) => {
  const { status, detail } = await errorOf(api.listOrders({ query: { [name]: value } as never }))
  expect(status).toBe(422)
  expect((detail as unknown as { loc: unknown[] }[])[0]?.loc.slice(0, 2)).toEqual(['query', field])
})

test('returns 404 for a user that is unknown or of another team', async () => {
  const otherTeam = await w.tenant()
  for (const user_id of [await aUser(otherTeam.api), '00000000-0000-4000-8000-000000000000'])
    expect(await errorOf(api.listOrders({ query: { user_id } }))).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
})

test('never lists orders of another team', async () => {
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

test('counts up to 10,000 orders exactly and refuses to sort more by name', async () => {
  const { api, team_id } = await w.tenant()
  const newest = await placeOrder(api)
  await insertCopies(newest.id, team_id, 9_999)
  const query = { size: 1 }
  expect(await api.listOrders({ query })).toEqual({ orders: [newest], total: 10_000, total_is_lower_bound: false, page: 1, size: 1 })
  await insertCopies(newest.id, team_id, 1)
  expect(await api.listOrders({ query })).toEqual({ orders: [newest], total: 10_000, total_is_lower_bound: true, page: 1, size: 1 })

  const byName = { size: 1, order_key: 'patient_name' } as const
  expect(await errorOf(api.listOrders({ query: byName }))).toMatchObject({ status: 400, detail: { error_type: 'TOO_MANY_TO_SORT' } })
  expect(await api.listOrders({ query: { ...byName, start_date: newest.created_at } })).toMatchObject({ orders: [newest], total: 1 })
})

/** Inserts older copies of an order that are only counted. The number gives each row a copy of its own. */
const insertCopies = (id: string, team_id: string, count: number) =>
  sql`insert into orders select copy.* from orders o, generate_series(1, ${count}) n,
      jsonb_populate_record(o, jsonb_build_object('n', n, 'id', gen_random_uuid(), 'transaction_id', gen_random_uuid(),
        'dispatch_at', null, 'terms', '[]'::jsonb, 'created_at', o.created_at - interval '1 day')) as copy
    where o.id = ${id} and o.team_id = ${team_id}`.execute(w.app.db)
