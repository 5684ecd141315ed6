import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../src/contract/client.ts'
import type { ResponseBody } from '../../src/contract/endpoint.ts'
import { type Endpoints, endpoints } from '../../src/contract/index.ts'
import { auditRows } from '../support/audit.ts'
import { aNewOrder } from '../support/orders.ts'
import { eventually } from '../support/process.ts'
import { aUser } from '../support/users.ts'
import type { Subject } from './rounds.ts'
import type { Attempt } from './writers.ts'

type Placed = ResponseBody<Endpoints['createOrder']>
type Order = Placed['order']
type NewOrder = Awaited<ReturnType<typeof aNewOrder>> & { passthrough: string }

const USERS = 10

const eventsOf = (where: string) => `(select count(*) from order_events where order_id = orders.id and ${where})`
const eventCount = (type: string) => `(select count(*) from events where order_id = orders.id and event_type = '${type}')`
const audited = `(select split_part(subject, 'order_id:', 2) as id from ${auditRows} where action = 'createOrder' and status = 200)`

const checks = {
  'orders without their first event': `select count(*) from orders where ${eventsOf(`id = 1 and low_level = 'ordered'`)} <> 1`,
  'orders without exactly one labtest.order.created': `select count(*) from orders where ${eventCount('labtest.order.created')} <> 1`,
  'orders that did not go to the lab exactly once': `select count(*) from orders where ${eventsOf(`low_level = 'requisition_created'`)} <> 1`,
  'orders whose steps were not each emitted once': `select count(*) from orders where ${eventCount('labtest.order.updated')} <> last_event - 1`,
  'orders whose status differs from their last event': `select count(*) from orders
    where (last_event, low_level) is distinct from (select (id, low_level) from order_events where order_id = orders.id order by id desc limit 1)`,
  'events without an order': 'select count(*) from events where order_id is not null and order_id not in (select id from orders)',
  'orders without an audit row of their placement': `select count(*) from orders where id::text not in (select id from ${audited} audited)`,
  'placements in the audit log without an order': `select count(*) from ${audited} audited where id not in (select id::text from orders)`,
}

/** Orders placed and sent to the lab during kills, every other one with an idempotency key. */
export const orders: Subject<NewOrder, Placed> = {
  async prepare(api) {
    const body = await aNewOrder(api)
    const user_ids = await Promise.all(Array.from({ length: USERS }, () => aUser(api)))
    let placed = 0
    return {
      row: endpoints.createOrder,
      body: (passthrough) => ({ ...body, passthrough, user_id: user_ids[placed++ % USERS] as string }),
      headers: (order): Record<string, string> => (isKeyed(order) ? keyOf(order) : {}),
    }
  },
  compare,
  checks,
  settled: 'not exists (select from orders where dispatch_at is not null)',
  // A killed process leaves the leases of its keys, which would expire after 15 seconds.
  beforeFinish: 'update idempotency_keys set leased_until = now() where status is null',
  finish: resendWithKeys,
}

const isKeyed = ({ passthrough }: NewOrder) => /[02468]$/.test(passthrough)
const keyOf = ({ passthrough }: NewOrder) => ({ 'x-idempotency-key': passthrough })

async function compare(api: Client, attempts: Attempt<NewOrder, Placed>[]) {
  const known = Map.groupBy(await listAllOrders(api), (order) => order.passthrough)
  const duplicates = [...known].filter(([, orders]) => orders.length > 1).map(([name]) => `${name} exists twice`)
  const verdicts = attempts.flatMap(({ body, response }) => (response ? [verdictOf(response.order, known.get(body.passthrough)?.[0])] : []))
  const faults = verdicts.filter((verdict) => verdict !== undefined).filter((verdict) => verdict !== 'lost')
  return { lost: verdicts.filter((verdict) => verdict === 'lost').length, faults: [...duplicates, ...faults] }
}

/** An acknowledged order exists with its first acknowledged event. */
function verdictOf(order: Order, found: Order | undefined) {
  if (found?.id !== order.id) return 'lost'
  const permanentFields = ({ patient_details, patient_address, created_at, events: [first] }: Order) => [
    patient_details,
    patient_address,
    created_at,
    first,
  ]
  return isDeepStrictEqual(permanentFields(found), permanentFields(order)) ? undefined : `${order.passthrough} changed`
}

async function listAllOrders(api: Client) {
  const orders: Order[] = []
  for (let page = 1; ; page++) {
    const found = await api.listOrders({ query: { page, size: 100, order_direction: 'asc' } })
    orders.push(...(found.orders as Order[]))
    if (found.orders.length < found.size) return orders
  }
}

/** Repeating an idempotency key yields one order, and the same response if there was one. */
async function resendWithKeys(api: Client, attempts: Attempt<NewOrder, Placed>[]) {
  const keyed = attempts.filter(({ body }) => isKeyed(body))
  const unacknowledged = keyed.filter(({ response }) => !response)
  const acknowledged = keyed.filter(({ response }) => response).slice(-20)
  const pending = [...unacknowledged, ...acknowledged]
  const faults: string[] = []
  const resendPending = async () => {
    for (let attempt = pending.pop(); attempt; attempt = pending.pop()) faults.push(...(await resend(api, attempt)))
  }
  await Promise.all(Array.from({ length: 16 }, resendPending))
  const { lost, faults: found } = await compare(api, attempts)
  return [...faults, ...found, ...(lost ? [`${lost} lost at the end`] : [])]
}

async function resend(api: Client, attempt: Attempt<NewOrder, Placed>) {
  const { order } = await eventually(() => api.createOrder({ body: attempt.body, headers: keyOf(attempt.body) }))
  if (attempt.response && !isDeepStrictEqual(attempt.response.order, order)) return [`${order.passthrough} got a different response`]
  attempt.response = { order, status: 'success', message: '' }
  return []
}
