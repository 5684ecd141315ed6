import { createClient } from '../src/contract/client.ts'
import { textOfSecret } from '../src/delivery/webhooks/sign.ts'
import { clusterResources, type Operation, operations, type TableFamily, tableFamilies } from '../src/operations/capacity/rules-costs.ts'
import { analyteOf, orderedTest } from '../test/support/catalog.ts'
import { query } from '../test/support/databases.ts'
import { tests } from '../test/support/orders.ts'
import { assay, readCredentials, run } from '../test/support/process.ts'
import type { LoadReport } from './load.ts'
import { machineLines } from './machine.ts'
import { SECRET } from './messages.ts'
import { createPatients, orderRequests, patientsIn } from './patients.ts'
import { bodyOf, heartRates, midnight } from './samples.ts'
import { printSerialRates } from './serial-rates.ts'
import { openSite } from './site.ts'
import { type Measured, measure, type Processes, waitUntilIdle, withCheckpoints } from './usage.ts'
import { openReceiver } from './webhooks.ts'

/** `firstDay` says how many days ago the first pushed day is. */
type Options = { orders: number; users: number; connections: number; firstDay: number; database: string | undefined }
type Bench = Processes & { options: Options; receiver: Awaited<ReturnType<typeof openReceiver>>; labKey: string }

const HELD = { activate_by: '2099-01-01' }
const HOUR = 3_600_000
/** Samples of one hour in the two runs whose difference is the cost of a sample. */
const [FEW, MANY] = [30, 240]

/** Measures what each operation uses on a fresh database, and prints the table of src/operations/capacity/rules-costs.ts. */
export async function benchCosts(options: Options) {
  const site = await openSite(options.connections + 4, options)
  const receiver = await openReceiver()
  try {
    await site.create('costs')
    const api = await site.serve('costs', { ROLE: 'api' })
    const worker = await site.serve('costs', { ROLE: 'worker' })
    for (const line of await machineLines(api.database)) console.log(line)
    const bench = { site, api, worker, receiver, options, labKey: await createLabKey(api) }
    await createPatients(api, Math.min(options.orders, 1000), options.connections)
    const costs = await costsOf(bench)
    const isCluster = site.servers.length > 1
    printCosts(isCluster ? costs : await withFullPages(bench, costs), isCluster)
    await worker.stop()
    await printSerialRates(bench, () => readOrders(bench))
  } finally {
    await receiver.close()
    await site.close()
  }
}

async function createLabKey({ env }: Processes['api']) {
  const { stdout } = await run([process.execPath, assay, 'lab-keys', 'create', '--lab', 'quillmoor', '--label', 'bench'], { env }).exited
  return stdout.trim()
}

type Costs = Record<Operation, Record<string, number>>

async function costsOf(bench: Bench): Promise<Costs> {
  const { orders, users, firstDay } = bench.options
  await removeWebhooks(bench)
  // Warms up the processes, and fills pages that the next run then uses.
  await completeOrders(bench)
  await waitUntilIdle(bench.api.database)
  const held = await measure(bench, 'orders placed and held', async () => [await place(bench, HELD)])
  const completed = await measure(bench, 'orders with results', () => completeOrders(bench))
  const reads = await measure(bench, 'reads', () => readOrders(bench))
  await createWebhooks(bench, 2)
  const delivered = await measure(bench, 'orders with results and two webhooks', () => withReceived(bench, () => completeOrders(bench)))
  await removeWebhooks(bench)
  const userIds = (await patientsIn(bench.api.database)).slice(0, users).map(({ user_id }) => user_id)
  await push(bench, userIds, MANY, firstDay)
  const few = await measure(bench, 'pushes with few samples', () => push(bench, userIds, FEW, firstDay + 1))
  const many = await measure(bench, 'pushes with many samples', () => push(bench, userIds, MANY, firstDay + 2))
  await createWebhooks(bench, 1)
  const fewDelivered = await measure(bench, 'pushes with few samples and a webhook', () =>
    withReceived(bench, () => push(bench, userIds, FEW, firstDay + 3)),
  )
  const manyDelivered = await measure(bench, 'pushes with many samples and a webhook', () =>
    withReceived(bench, () => push(bench, userIds, MANY, firstDay + 4)),
  )
  const [pushes, samples] = [users * 24, users * 24 * (MANY - FEW)]
  const sample = perUnit(samples, many, few)
  console.log(`events per order: ${(completed.events / orders).toFixed(2)}, per push: ${(many.events / pushes).toFixed(2)}\n`)
  return {
    order: perUnit(orders, held),
    event: perUnit(completed.events - held.events, completed, held),
    delivery: perUnit(delivered.deliveries, delivered, completed),
    read: perUnit(3 * orders, reads),
    push: mapValues(perUnit(pushes, few), (value, name) => value - FEW * (sample[name] ?? 0)),
    sample,
    delivered_sample: mapValues(
      perUnit(samples, manyDelivered, many),
      (value, name) => value - (perUnit(samples, fewDelivered, few)[name] ?? 0),
    ),
  }
}

/** Measures the log again with few operations between two checkpoints, like in a large database. */
async function withFullPages(bench: Bench, costs: Costs) {
  const { orders, users, firstDay } = bench.options
  const options = { ...bench.options, orders: Math.ceil(orders / 6), users: Math.ceil(users / 4), firstDay: firstDay + 10 }
  const again = await withCheckpoints(bench.api.database, () => costsOf({ ...bench, options }))
  for (const [operation, cost] of Object.entries(costs) as [Operation, Costs[Operation]][]) cost['wal'] = again[operation]['wal'] ?? 0
  return costs
}

const mapValues = (values: Record<string, number>, rule: (value: number, name: string) => number) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, rule(value, name)]))

/** What one unit used in addition to a run without it. */
const perUnit = (count: number, { used }: Measured, without?: Measured) =>
  mapValues(used, (value, name) => (value - (without?.used[name] ?? 0)) / count)

async function place({ api, options: { orders, connections } }: Bench, change: object = {}) {
  const requests = await orderRequests(api, await patientsIn(api.database), change)
  return (await api.load({ connections, times: orders, requests })).bytes
}

/** Places orders. Their lab reports two steps and all results. */
async function completeOrders(bench: Bench): Promise<LoadReport['bytes'][]> {
  const { api, labKey, options } = bench
  const traffic = [await place(bench)]
  await waitUntilIdle(api.database)
  const dispatched = await query<{ id: string }>(api.database, "select id from orders where low_level = 'requisition_created'")
  const slugs = orderedTest(tests.walk_in_test).markers.flatMap(({ expected_results }) => expected_results)
  const results = slugs.map((slug) => ({ slug, result: String(analyteOf(slug).sim?.mean_female) }))
  const reports: [string, object][] = [
    ['status', { status: 'appointment_pending' }],
    ['status', { status: 'appointment_scheduled', collected_at: new Date().toISOString() }],
    ['results', { status: 'final', results }],
  ]
  for (const [path, body] of reports) {
    const requests = dispatched.map(({ id }) => ({ method: 'POST', path: `/lab/v1/orders/${id}/${path}`, body: JSON.stringify(body) }))
    const headers = { 'x-lab-key': labKey }
    traffic.push((await api.load({ connections: options.connections, times: requests.length, requests, headers })).bytes)
  }
  return traffic
}

/** Reads the order, the results and the user of completed orders. */
async function readOrders({ api, options: { orders, connections } }: Bench) {
  const rows = await query<{ id: string; user_id: string }>(
    api.database,
    "select id, user_id from orders where low_level = 'completed' limit $1",
    [orders],
  )
  const paths = rows.flatMap(({ id, user_id }) => [`/v3/order/${id}`, `/v3/order/${id}/result`, `/v2/user/${user_id}`])
  return [(await api.load({ connections, times: paths.length, requests: paths.map((path) => ({ method: 'GET', path })) })).bytes]
}

/** Pushes a day of each user in 24 hourly batches. */
async function push({ api, options }: Bench, userIds: string[], perHour: number, daysAgo: number) {
  const requests = Array.from({ length: 24 }, (_, hour) =>
    userIds.map((user, i) => ({
      method: 'POST',
      path: `/v2/timeseries/${user}/heartrate`,
      body: bodyOf(heartRates(i * 24 + hour, midnight(daysAgo) + hour * HOUR, perHour, HOUR / perHour)),
    })),
  ).flat()
  return [(await api.load({ connections: Math.min(options.connections, 4), times: requests.length, requests })).bytes]
}

async function createWebhooks({ api, site, receiver }: Bench, count: number) {
  const { org_id, team_id, management_key } = readCredentials(site.dataDir)
  const admin = createClient(api.url, { 'x-management-key': management_key })
  const params = { org_id, team_id, env: 'sandbox' } as const
  for (let i = 0; i < count; i++)
    await admin.createWebhook({ params, body: { url: `${receiver.url}/costs/${i}`, secret: textOfSecret(SECRET) } })
}

const removeWebhooks = ({ api }: Bench) => query(api.database, 'delete from webhooks')

/** Adds the bytes that the receiver gets to the traffic. */
async function withReceived({ api, receiver }: Bench, work: () => Promise<LoadReport['bytes'][]>) {
  await receiver.takeReport()
  const traffic = await work()
  await waitUntilIdle(api.database)
  const { bytes, count, wrong } = await receiver.takeReport()
  console.log(`  ${count} messages received, ${wrong} wrong or out of order`)
  return [...traffic, { requests: 0, responses: bytes }]
}

/** Prints the rows for the source file. Small negative values are noise. */
/** The tables that an operation writes, if they are few. Differences of the others are pages of earlier runs. */
const written: Partial<Record<Operation, TableFamily[]>> = {
  delivery: ['deliveries'],
  sample: ['events', 'samples'],
  delivered_sample: ['deliveries'],
}

function printCosts(costs: Costs, isCluster: boolean) {
  for (const operation of Object.keys(operations) as Operation[]) {
    const others = tableFamilies.filter((family) => written[operation] && !written[operation].includes(family))
    const unwritten = Object.fromEntries(others.map((family) => [`${family}_disk`, 0]))
    const cells = Object.entries({ ...costs[operation], ...unwritten })
      .filter(([name]) => (clusterResources as readonly string[]).includes(name) === isCluster)
      .map(([name, value]) => `${name}: ${value > 0 ? Number(value.toPrecision(3)) : 0}`)
    console.log(`  ${operation}: { ${cells.join(', ')} },`)
  }
}
