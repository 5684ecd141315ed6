import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../contract/client.ts'
import { Id } from '../contract/common.ts'
import { isEnd, type Method, stepNames } from '../contract/labs/lifecycle.ts'
import type { NewOrder } from '../contract/labs/new-order.ts'
import { interpretations } from '../contract/labs/results.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { asTeam, Count, readJson, serviceOptions } from './service.ts'
import { eventsOf } from './stream.ts'

type Order = Awaited<ReturnType<Client['getOrder']>>

const linesOf = (orders: Order[], footer = '') =>
  listing(
    ['ORDER ID', 'CREATED', 'STEP', 'LAB TEST', 'RESULTS'],
    orders.map(({ id, created_at, last_event, lab_test, interpretation }) => [
      id,
      created_at,
      last_event.status,
      lab_test.name,
      interpretation,
    ]),
    footer,
  )

export const orderId = { id: { value: 'ID', what: 'Order ID.', shape: Id, required: true } } as const

export const listOrders = command({
  name: 'orders list',
  summary: 'List the orders of the team, newest first.',
  options: {
    ...serviceOptions,
    status: { value: 'STEP', what: 'Only orders in this step, such as ordered or completed.', oneOf: stepNames, many: true },
    user: { value: 'ID', what: 'Only orders of this user.', shape: Id },
    interpretation: { value: interpretations.join('|'), what: 'Only orders with this interpretation.', oneOf: interpretations },
    size: { value: 'N', what: 'Page size.', shape: Count, fallback: '50' },
    page: { value: 'N', what: 'Page number.', shape: Count, fallback: '1' },
  },
  async run({ status, user, interpretation, size, page, json, ...access }) {
    const query = { user_id: user, interpretation, size, page, ...(status.length ? { status } : {}) }
    const result = await asTeam(access).api.listOrders({ query })
    print(json, result, linesOf(result.orders, `${result.orders.length} of ${result.total}`))
  },
})

export const placeOrders = command({
  name: 'orders place',
  summary: 'Place one or more orders from a file. The file contains the body of POST /v3/order, or a list of them.',
  options: {
    ...serviceOptions,
    file: { value: 'FILE', what: 'Order file, as JSON. Use - for standard input.', required: true, file: true },
    user: { value: 'ID', what: 'user_id for orders that have none.', shape: Id },
    check: { what: 'Print all errors and warnings without placing anything. Exits with 1 if an order would be rejected.' },
    'idempotency-key': {
      value: 'TEXT',
      what: 'Idempotency key. A repeated command with the same key returns the same order. For files with one order.',
    },
  },
  examples: ['assay orders place --file order.json', 'assay orders place --file order.json --check'],
  async run({ file, user, check, json, 'idempotency-key': key, ...access }) {
    const { api } = asTeam(access)
    const bodies = [readJson(file)].flat().map((body) => ({ ...(user ? { user_id: user } : {}), ...(body as NewOrder) }))
    if (key && bodies.length > 1) throw setupProblem('--idempotency-key works with one order, and the file has several')
    if (check) return checkOrders(api, bodies, json)
    const headers = key ? { 'x-idempotency-key': key } : {}
    const placed: Order[] = []
    for (const body of bodies) {
      const { order } = await api.createOrder({ body, headers }).catch((error: Error) => {
        if (bodies.length === 1) throw error
        // The operator needs to know which orders not to place again.
        print(json, placed, linesOf(placed))
        throw Object.assign(error, { message: `Order ${placed.length + 1} of ${bodies.length}: ${error.message}` })
      })
      placed.push(order)
    }
    print(json, bodies.length === 1 ? placed[0] : placed, linesOf(placed))
  },
})

async function checkOrders(api: Client, bodies: object[], json: boolean) {
  const verdicts = []
  for (const body of bodies) verdicts.push(await api.validateOrder({ body: { ...body } }))
  const lines = verdicts.flatMap(({ valid, problems }, i) => [
    `order ${i + 1}: ${valid ? 'would be placed' : 'would be rejected'}`,
    ...problems.map(({ severity, path, message, remedy }) => `  ${severity}  ${path.join('.')}: ${message} ${remedy}`.trimEnd()),
  ])
  print(json, verdicts.length === 1 ? verdicts[0] : verdicts, lines)
  if (verdicts.some(({ valid }) => !valid)) process.exitCode = 1
}

export const showOrder = command({
  name: 'orders show',
  summary: 'Show an order and its events. Personal data is included with --json only.',
  options: { ...serviceOptions, ...orderId },
  async run({ id, json, ...access }) {
    const order = await asTeam(access).api.getOrder({ params: { order_id: id } })
    print(json, order, [...linesOf([order]), ...order.events.map(stepLine)])
  },
})

type Step = Order['events'][number]

const stepLine = ({ id, created_at, status, status_detail }: Step) =>
  `  ${String(id).padStart(3)}  ${created_at}  ${status}${status_detail ? ` (${status_detail})` : ''}`

export const cancelOrder = command({
  name: 'orders cancel',
  summary: 'Cancel an order.',
  options: { ...serviceOptions, ...orderId },
  async run({ id, json, ...access }) {
    const { order } = await asTeam(access).api.cancelOrder({ params: { order_id: id } })
    print(json, order, linesOf([order]))
  },
})

export const simulateOrder = command({
  name: 'orders simulate',
  summary: 'Advance an order through its steps in the sandbox.',
  options: {
    ...serviceOptions,
    ...orderId,
    to: { value: 'STATUS', what: 'Final status, such as failed.testkit.lost. Default: completed.' },
    delay: { value: 'SECONDS', what: 'Seconds between two steps.', shape: Count },
    interpretation: {
      value: interpretations.join('|'),
      what: 'Interpretation of the results.',
      oneOf: interpretations,
      fallback: 'normal',
    },
  },
  examples: ['assay orders simulate --id ID --interpretation critical'],
  async run({ id, to, delay, interpretation, json, ...access }) {
    const { api } = asTeam(access)
    await api.simulateOrder({ params: { order_id: id }, query: { final_status: to, delay }, body: { interpretation } })
    const order = await api.getOrder({ params: { order_id: id } })
    print(json, order, [...linesOf([order]), ...order.events.map(stepLine)])
  },
})

export const watchOrder = command({
  name: 'orders watch',
  summary: 'Print the events of an order until it ends. The command exits with 1 if the order failed or was canceled.',
  options: { ...serviceOptions, ...orderId },
  async run({ id, json, ...access }) {
    const service = asTeam(access)
    const seen = new Set<number>()
    const printNewSteps = async () => {
      const order = await service.api.getOrder({ params: { order_id: id } })
      for (const step of order.events.filter((step) => !seen.has(step.id))) {
        seen.add(step.id)
        console.log(json ? JSON.stringify({ order_id: id, ...step }) : stepLine(step))
      }
      return order
    }
    const order = (await findEnded(printNewSteps)) ?? (await waitForEnd(printNewSteps, eventsOf(service, { after: 'end', order_id: id })))
    if (order.status === 'failed' || order.status === 'cancelled') process.exitCode = 1
  },
})

async function findEnded(printNewSteps: () => Promise<Order>) {
  const order = await printNewSteps()
  const [, method = '', low = ''] = order.last_event.status.split('.')
  return low === 'completed' || isEnd(method as Method, low) ? order : undefined
}

/** Each event triggers a read. A read every two seconds finds changes from before the stream was open. */
async function waitForEnd(printNewSteps: () => Promise<Order>, events: AsyncIterator<unknown>) {
  for (let nextEvent = events.next(); ; ) {
    const event = await Promise.race([nextEvent, pause(2000)])
    if (event) nextEvent = events.next()
    const order = await findEnded(printNewSteps)
    if (order) return order
  }
}
