import { pgbouncer } from '../test/support/pooler.ts'
import { cpuOf } from './cpu.ts'
import { benchLists } from './lists.ts'
import type { Load } from './load.ts'
import { machineLines } from './machine.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import { createPatients, orderRequests, patientsIn } from './patients.ts'
import { copyUsers, pgbenchRate, pgbenchVersion, scriptFromOrder } from './pgbench.ts'
import { openSite, type Running, type Site } from './site.ts'
import { waitUntilIdle } from './usage.ts'

type Options = { seconds: number; rounds: number; connections: number; most: number; pooler: number | undefined }

const USERS = 1000
const HELD = { activate_by: '2099-01-01' }

/** Measures and prints; it does not assert any number. */
export async function benchOrders(options: Options) {
  const site = await openSite(options.connections, options)
  try {
    await createDatabases(site, options)
    for (const line of await machineLines(site.urlOf('placed'))) console.log(line)
    const pooled = options.pooler === undefined ? '' : `, ${options.pooler} connections of ${pgbouncer?.version}`
    console.log(`${options.connections} connections${pooled}, ${options.rounds} rounds of ${options.seconds} s per variant, medians\n`)
    await benchPlacing(site, options)
    await benchLists(site, options.most)
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

/** One way to place orders, with its measurements by round: rate, latency and CPU time per order. */
type Variant = { name: string; rates: number[]; latencies: number[]; serviceMs: number[]; serverMs: number[]; poolerMs: number[] }
type Round = { succeeded: number; rate: number; latencies?: number[] }

const newVariant = (name: string): Variant => ({ name, rates: [], latencies: [], serviceMs: [], serverMs: [], poolerMs: [] })

async function benchPlacing(site: Site, { seconds, rounds, connections }: Options) {
  const running = await site.serve('placed')
  const version = pgbenchVersion()
  const patients = await patientsIn(running.database)
  const script = await scriptFromOrder(running.database, USERS)
  const place = async (requests: Load['requests']): Promise<Round> => {
    const { succeeded, seconds: elapsed, latencies } = await running.load({ connections, seconds, requests })
    return { succeeded, rate: succeeded / elapsed, latencies }
  }
  const runPgbench = async (): Promise<Round> => {
    const rate = await pgbenchRate({ url: site.urlOf('pgbench'), connections, seconds, folder: site.dataDir }, script)
    return { succeeded: rate * seconds, rate }
  }
  const held = await orderRequests(running, patients, HELD)
  const immediate = await orderRequests(running, patients)
  const variants: [Variant, () => Promise<Round>][] = [
    [newVariant('POST /v3/order, held until a later day'), () => place(held)],
    ...(version ? [[newVariant(`${version}, the same statement`), runPgbench] as [Variant, () => Promise<Round>]] : []),
    [newVariant('POST /v3/order, sent to the lab immediately'), () => place(immediate)],
  ]
  await running.load({ connections, seconds: Math.min(seconds, 3), requests: held })
  for (let round = 0; round < rounds; round++)
    for (const [variant, work] of round % 2 ? variants.toReversed() : variants) await measure(site, running, variant, work)
  await running.stop()
  for (const [variant] of variants) printVariant(variant)
  compare(variants.map(([variant]) => variant))
}

async function measure(site: Site, running: Running, variant: Variant, work: () => Promise<Round>) {
  const cpu = () => [cpuOf(running.pid), cpuOf(site.postmaster), site.pooler ? cpuOf(site.pooler) : 0] as const
  const [service, server, pooler] = cpu()
  const { succeeded, rate, latencies = [] } = await work()
  const [serviceAfter, serverAfter, poolerAfter] = cpu()
  variant.rates.push(rate)
  variant.latencies.push(...latencies)
  variant.serviceMs.push((serviceAfter - service) / succeeded)
  variant.serverMs.push((serverAfter - server) / succeeded)
  variant.poolerMs.push((poolerAfter - pooler) / succeeded)
  await waitUntilIdle(running.database)
}

function printVariant({ name, rates, latencies, serviceMs, serverMs, poolerMs }: Variant) {
  console.log(`${name}: ${perSecond(median(rates))} (${rates.map(Math.round).join(' ')})`)
  if (latencies.length) console.log(`  p50 ${ms(percentile(latencies, 50))}, p99 ${ms(percentile(latencies, 99))}`)
  const service = latencies.length ? `${median(serviceMs).toFixed(2)} ms of the service, ` : ''
  const pooler = median(poolerMs) ? `, ${median(poolerMs).toFixed(2)} ms of PgBouncer` : ''
  console.log(`  CPU time per order: ${service}${median(serverMs).toFixed(2)} ms of PostgreSQL${pooler}`)
}

function compare([held, ...others]: Variant[]) {
  const pgbench = others.find(({ latencies }) => !latencies.length)
  if (!held || !pgbench) return console.log('pgbench is not installed, so there is no comparison\n')
  console.log(`ratio to pgbench: ${(median(held.rates) / median(pgbench.rates)).toFixed(2)}\n`)
}
