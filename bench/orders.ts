import { query } from '../test/support/cluster.ts'
import { eventually } from '../test/support/process.ts'
import { cpuOf } from './cpu.ts'
import { benchLists } from './lists.ts'
import type { Load } from './load.ts'
import { machineLines } from './machine.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import { makePatients, orderRequests, patientsIn } from './patients.ts'
import { makeUsers, pgbenchRate, pgbenchVersion, scriptLike } from './pgbench.ts'
import { openSite, type Running, type Site } from './site.ts'

export type Options = { seconds: number; rounds: number; connections: number; most: number }

const USERS = 1000
const HELD = { activate_by: '2099-01-01' }

/** Measures and prints; it does not assert any number. */
export async function benchOrders(options: Options) {
  const site = await openSite(options.connections)
  try {
    await prepare(site, options)
    for (const line of await machineLines(site.urlOf('placed'))) console.log(line)
    console.log(`${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s each way, medians\n`)
    await benchPlacing(site, options)
    await benchLists(site, options.most)
  } finally {
    await site.close()
  }
}

/** Creates a database in which every user has an order, and copies it for pgbench and for the lists. */
async function prepare(site: Site, { connections }: Options) {
  await site.create('placed')
  const running = await site.serve('placed')
  await makePatients(running, USERS, connections)
  const patients = await patientsIn(running.database)
  await running.load({ connections, times: USERS, requests: await orderRequests(running, patients, HELD) })
  await waitUntilIdle(running)
  await running.stop()
  for (const name of ['beside', 'listed']) await site.create(name, 'placed')
  await makeUsers(site.urlOf('beside'), USERS)
}

/** The measurements of one way to place orders, by round: rate, latency and CPU time per order. */
type Way = { name: string; rates: number[]; latencies: number[]; serviceMs: number[]; serverMs: number[] }
type Round = { answers: number; rate: number; latencies?: number[] }

const way = (name: string): Way => ({ name, rates: [], latencies: [], serviceMs: [], serverMs: [] })

async function benchPlacing(site: Site, { seconds, rounds, connections }: Options) {
  const running = await site.serve('placed')
  const version = pgbenchVersion()
  const patients = await patientsIn(running.database)
  const script = await scriptLike(running.database, USERS)
  const place = async (requests: Load['requests']): Promise<Round> => {
    const { answers, seconds: took, latencies } = await running.load({ connections, seconds, requests })
    return { answers, rate: answers / took, latencies }
  }
  const beside = async (): Promise<Round> => {
    const rate = await pgbenchRate({ url: site.urlOf('beside'), connections, seconds, folder: site.dataDir }, script)
    return { answers: rate * seconds, rate }
  }
  const held = await orderRequests(running, patients, HELD)
  const atOnce = await orderRequests(running, patients)
  const ways: [Way, () => Promise<Round>][] = [
    [way('POST /v3/order, held until a later day'), () => place(held)],
    ...(version ? [[way(`${version}, the same statement`), beside] as [Way, () => Promise<Round>]] : []),
    [way('POST /v3/order, sent to the lab beside'), () => place(atOnce)],
  ]
  await running.load({ connections, seconds: Math.min(seconds, 3), requests: held })
  for (let round = 0; round < rounds; round++)
    for (const [one, work] of round % 2 ? ways.toReversed() : ways) await measure(site, running, one, work)
  await running.stop()
  for (const [one] of ways) tell(one)
  compare(ways.map(([one]) => one))
}

async function measure(site: Site, running: Running, one: Way, work: () => Promise<Round>) {
  const cpu = () => [cpuOf(running.pid), cpuOf(site.postmaster)] as const
  const [service, server] = cpu()
  const { answers, rate, latencies = [] } = await work()
  const [serviceAfter, serverAfter] = cpu()
  one.rates.push(rate)
  one.latencies.push(...latencies)
  one.serviceMs.push((serviceAfter - service) / answers)
  one.serverMs.push((serverAfter - server) / answers)
  await waitUntilIdle(running)
}

function tell({ name, rates, latencies, serviceMs, serverMs }: Way) {
  console.log(`${name}: ${perSecond(median(rates))} (${rates.map(Math.round).join(' ')})`)
  if (latencies.length) console.log(`  p50 ${ms(percentile(latencies, 50))}, p99 ${ms(percentile(latencies, 99))}`)
  const service = latencies.length ? `${median(serviceMs).toFixed(2)} ms of the service, ` : ''
  console.log(`  processor time for one: ${service}${median(serverMs).toFixed(2)} ms of PostgreSQL`)
}

function compare([held, ...others]: Way[]) {
  const beside = others.find(({ latencies }) => !latencies.length)
  if (!held || !beside) return console.log('pgbench is not installed, so there is no comparison\n')
  console.log(`ratio to pgbench: ${(median(held.rates) / median(beside.rates)).toFixed(2)}\n`)
}

/** Waits until no order is pending for the lab and no audit row is unchained. */
const waitUntilIdle = ({ database }: Running) =>
  eventually(async () => {
    const [row] = await query<{ busy: boolean }>(
      database,
      'select exists (select from audit_log where chain_seq is null) or exists (select from orders where dispatch_at < now()) as busy',
    )
    return row?.busy === false
  }, 300_000)
