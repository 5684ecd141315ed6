import { pgbouncer } from '../test/support/pooler.ts'
import { cpuOf } from './cpu.ts'
import { measureLists, printLists } from './lists.ts'
import type { Load } from './load.ts'
import { machineLines } from './machine.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import { createPatients, orderRequests, patientsIn } from './patients.ts'
import { copyUsers, pgbenchRate, pgbenchVersion, scriptFromOrder } from './pgbench.ts'
import { openSite, type Running, type Site } from './site.ts'
import { waitUntilDispatched, waitUntilIdle } from './usage.ts'

type Options = { seconds: number; rounds: number; connections: number; pooler: number | undefined }

const USERS = 1000
/** Orders in the small table of the lists. */
const FEW = 10_000
const HELD = { activate_by: '2099-01-01' }

/** Measures and prints; it does not assert any number. */
export const benchOrders = (options: Options & { most: number }) =>
  withOrders(options, async (site) => {
    for (const line of await machineLines(site.urlOf('placed'))) console.log(line)
    const pooled = options.pooler === undefined ? '' : `, ${options.pooler} connections of ${pgbouncer?.version}`
    console.log(`${options.connections} connections${pooled}, ${options.rounds} rounds of ${options.seconds} s per variant, medians\n`)
    printPlacing(await measurePlacing(site, options))
    const sizes = [FEW, options.most]
    printLists(sizes, await measureLists(site, sizes))
  })

/** Opens a site with the databases that `measurePlacing` and `measureLists` need. */
export async function withOrders<T>(options: Options, work: (site: Site) => Promise<T>) {
  const site = await openSite(options.connections, options)
  try {
    await createDatabases(site, options)
    return await work(site)
  } finally {
    await site.close()
  }
}

/** Creates a database in which every user has an order, and copies it for pgbench and for the lists. */
async function createDatabases(site: Site, { connections }: Options) {
  await site.create('placed')
  const running = await site.serve('placed')
  await createPatients(running, USERS, connections)
  const patients = await patientsIn(running.database)
  await running.load({ connections, times: USERS, requests: await orderRequests(running, patients, HELD) })
  await waitUntilIdle(running.database)
  await running.stop()
  for (const name of ['pgbench', 'listed']) await site.create(name, 'placed')
  await copyUsers(site.urlOf('pgbench'), USERS)
}

type Series = 'rates' | 'sustained' | 'latencies' | 'serviceMs' | 'serverMs' | 'poolerMs'
/**
 * One way to place orders, with its measurements by round. The sustained rate ends when every order is dispatched, and the CPU time
 * per order when everything that follows is done.
 */
export type Variant = { name: string } & Record<Series, number[]>
export type Placing = { held: Variant; immediate: Variant; pgbench?: Variant }
type Round = { succeeded: number; seconds: number; latencies?: number[] }

const newVariant = (name: string): Variant => ({
  name,
  rates: [],
  sustained: [],
  latencies: [],
  serviceMs: [],
  serverMs: [],
  poolerMs: [],
})

export async function measurePlacing(site: Site, { seconds, rounds, connections }: Options): Promise<Placing> {
  const running = await site.serve('placed')
  const version = pgbenchVersion()
  const patients = await patientsIn(running.database)
  const script = await scriptFromOrder(running.database, USERS)
  const place = async (requests: Load['requests']): Promise<Round> => {
    const { succeeded, seconds: elapsed, latencies } = await running.load({ connections, seconds, requests })
    return { succeeded, seconds: elapsed, latencies }
  }
  const runPgbench = async (): Promise<Round> => {
    const rate = await pgbenchRate({ url: site.urlOf('pgbench'), connections, seconds, folder: site.dataDir }, script)
    return { succeeded: rate * seconds, seconds }
  }
  const heldRequests = await orderRequests(running, patients, HELD)
  const immediateRequests = await orderRequests(running, patients)
  const held = newVariant('POST /v3/order, held until a later day')
  const immediate = newVariant('POST /v3/order, sent to the lab immediately')
  const pgbench = version ? newVariant(`${version}, the same statement`) : undefined
  const variants: [Variant, () => Promise<Round>][] = [
    [held, () => place(heldRequests)],
    ...(pgbench ? [[pgbench, runPgbench] as [Variant, () => Promise<Round>]] : []),
    [immediate, () => place(immediateRequests)],
  ]
  await running.load({ connections, seconds: Math.min(seconds, 3), requests: heldRequests })
  for (let round = 0; round < rounds; round++)
    for (const [variant, work] of round % 2 ? variants.toReversed() : variants) await measure(site, running, variant, work)
  await running.stop()
  return { held, immediate, ...(pgbench ? { pgbench } : {}) }
}

async function measure(site: Site, running: Running, variant: Variant, work: () => Promise<Round>) {
  const cpu = () => [cpuOf(running.pid), cpuOf(site.postmaster), site.pooler ? cpuOf(site.pooler) : 0] as const
  const [service, server, pooler] = cpu()
  const { succeeded, seconds, latencies = [] } = await work()
  const placedAt = performance.now()
  await waitUntilDispatched(running.database)
  variant.rates.push(succeeded / seconds)
  variant.sustained.push(succeeded / (seconds + (performance.now() - placedAt) / 1000))
  await waitUntilIdle(running.database)
  const [serviceAfter, serverAfter, poolerAfter] = cpu()
  variant.latencies.push(...latencies)
  variant.serviceMs.push((serviceAfter - service) / succeeded)
  variant.serverMs.push((serverAfter - server) / succeeded)
  variant.poolerMs.push((poolerAfter - pooler) / succeeded)
}

function printPlacing(placing: Placing) {
  const { held, pgbench, immediate } = placing
  for (const variant of [held, ...(pgbench ? [pgbench] : []), immediate]) printVariant(variant)
  console.log(`sent to the lab immediately, sustained: ${perSecond(median(immediate.sustained))} placed and dispatched`)
  if (!pgbench) return console.log('pgbench is not installed, so there is no comparison\n')
  const ratio = (rates: number[]) => (median(rates) / median(pgbench.rates)).toFixed(2)
  console.log(`ratio to pgbench: ${ratio(held.rates)} held, ${ratio(immediate.sustained)} sent to the lab, sustained\n`)
}

function printVariant({ name, rates, latencies, serviceMs, serverMs, poolerMs }: Variant) {
  console.log(`${name}: ${perSecond(median(rates))} (${rates.map(Math.round).join(' ')})`)
  if (latencies.length) console.log(`  p50 ${ms(percentile(latencies, 50))}, p99 ${ms(percentile(latencies, 99))}`)
  const service = latencies.length ? `${median(serviceMs).toFixed(2)} ms of the service, ` : ''
  const pooler = median(poolerMs) ? `, ${median(poolerMs).toFixed(2)} ms of PgBouncer` : ''
  console.log(`  CPU time per order, with all that follows: ${service}${median(serverMs).toFixed(2)} ms of PostgreSQL${pooler}`)
}
