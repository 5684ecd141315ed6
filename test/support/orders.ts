import type { Client } from '../../src/contract/client.ts'
import type { Method } from '../../src/contract/labs/lifecycle.ts'
import { anAddress, people } from './people.ts'
import { aUser } from './users.ts'

/** One lab test of the sandbox catalog per method, without AoE questions. */
export const tests: Record<Method, string> = {
  walk_in_test: 'essential-wellness',
  at_home_phlebotomy: 'iron-and-anemia',
  testkit: 'heart-and-sugar-card',
  on_site_collection: 'onsite-event-screen',
}

const labTestsOf = new WeakMap<Client, Awaited<ReturnType<Client['listLabTests']>>['data']>()

/** Finds the ID of a lab test by its slug. */
export async function testId(api: Client, slug: string) {
  const known = labTestsOf.get(api)?.find((one) => one.slug === slug)
  if (known) return known.id
  const { data } = await api.listLabTests({ query: { lab_test_limit: 500 } })
  labTestsOf.set(api, data)
  const test = data.find((one) => one.slug === slug)
  if (!test) throw new Error(`no lab test ${slug} among ${data.map((one) => one.slug).join(' ')}`)
  return test.id
}

export const aPatient = (change: object = {}, person: (typeof people)[number] = people[0]) => ({
  ...person,
  gender: 'female' as const,
  ...change,
})

/** The user of `change`, or a new one. */
const userIn = async (change: { user_id?: string }, api: Client) => change.user_id ?? (await aUser(api))

/** The body of an order, with changes. */
export async function aNewOrder(api: Client, method: Method = 'walk_in_test', change: object = {}) {
  return {
    user_id: await userIn(change, api),
    patient_details: aPatient(),
    patient_address: anAddress(),
    order_set: { lab_test_ids: [await testId(api, tests[method])] },
    ...change,
  }
}

export const placeOrder = async (api: Client, method: Method = 'walk_in_test', change: object = {}) =>
  (await api.createOrder({ body: await aNewOrder(api, method, change) })).order

/** An order with a critical result. */
export async function aCriticalOrder(api: Client) {
  const order = await placeOrder(api)
  await api.simulateOrder({ params: { order_id: order.id }, query: {}, body: { interpretation: 'critical' } })
  return order
}

/** A kit shipped before its patient is known. */
export async function placeKit(api: Client, change: object = {}) {
  const shipping_details = { ...anAddress(), receiver_name: 'Harbor Stock', phone_number: '+12025550100' }
  const { order } = await api.createTestkitOrder({
    body: { user_id: await userIn(change, api), lab_test_id: await testId(api, tests.testkit), shipping_details, ...change },
  })
  return order
}

export const statusesOf = (order: { events: { status: string }[] }) => order.events.map(({ status }) => status.split('.')[2])

/** The person whom a key names. */
export const aReviewer = { name: 'Marigold Ashdown', reference: 'staff-17', role: 'physician' }

/** Acknowledges the latest report of an order with a critical result. */
export async function acknowledge(api: Client, order_id: string, change: object = {}) {
  const { result_version } = await api.getCriticalResult({ params: { order_id } })
  return api.acknowledgeCritical({ params: { order_id }, body: { result_version, reviewer: aReviewer, ...change } })
}

/** Corrects the results of an order. */
export const correct = (api: Client, order_id: string, interpretation: 'normal' | 'critical') =>
  api.simulateOrder({ params: { order_id }, query: { final_status: 'completed.walk_in_test.corrected' }, body: { interpretation } })
