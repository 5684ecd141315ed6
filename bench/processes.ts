import { spawnSync } from 'node:child_process'
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { processesOf } from '../test/support/process.ts'
import { cpuOf } from './cpu.ts'
import type { Load } from './load.ts'
import { machineLines } from './machine.ts'
import { memoryLine } from './memory.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import { createPatients, orderRequests, patientsIn } from './patients.ts'
import { openSite, type Running, type Site } from './site.ts'
import { waitUntilIdle } from './usage.ts'

type Options = { seconds: number; rounds: number; connections: number; soakSeconds: number }

const USERS = 500
/** The service returns memory to the system within this time after its start. */
const SETTLE_MS = 30_000
const SOAK_STEPS = 12

/** Compares one API process with two, each pinned to a core, and prints the memory of the service. It does not assert any number. */
export async function benchProcesses(options: Options) {
  const site = await openSite(options.connections)
  try {
    await site.create('bench')
    const first = await site.serve('bench')
    await createPatients(first, USERS, options.connections)
    for (const line of await machineLines(first.database)) console.log(line)
    console.log(`${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s per variant, medians\n`)
    await benchMemory(first, options)
    await first.stop()
    await comparePinned(site, options)
  } finally {
    await site.close()
  }
}

type Workload = { name: string; requests: Load['requests'] }

async function workloadsOf(running: Running): Promise<[Workload, Workload]> {
  const patients = await patientsIn(running.database)
  const reads = patients.map(({ user_id }) => ({ method: 'GET', path: `/v2/user/${user_id}` }))
  return [
    { name: 'GET /v2/user/{user_id}', requests: reads },
    { name: 'POST /v3/order, held', requests: await orderRequests(running, patients, { activate_by: '2099-01-01' }) },
  ]
}

/** Memory of the default processes: idle, loaded, and while a mixed load goes on. */
async function benchMemory(running: Running, { seconds, connections, soakSeconds }: Options) {
  const line = async () => memoryLine(running.pid, await processesOf(running.pid))
  const [reads, orders] = await workloadsOf(running)
  await waitUntilIdle(running.database)
  await sleep(SETTLE_MS)
  console.log(`memory, idle: ${await line()}`)
  const mixed = orders.requests.flatMap((order, n) => [order, reads.requests[n] as Load['requests'][number]])
  await running.load({ connections, seconds, requests: mixed })
  console.log(`memory, loaded: ${await line()}`)
  const stepSeconds = Math.ceil(soakSeconds / SOAK_STEPS)
  for (let step = 1; step <= (soakSeconds ? SOAK_STEPS : 0); step++) {
    await running.load({ connections, seconds: stepSeconds, requests: mixed })
    console.log(`memory after ${step * stepSeconds} s of mixed load: ${await line()}`)
  }
  await waitUntilIdle(running.database)
  await sleep(SETTLE_MS)
  console.log(`memory, idle again: ${await line()}\n`)
}

type Result = { rates: number[]; latencies: number[]; serviceMs: number[]; serverMs: number[] }

async function comparePinned(site: Site, options: Options) {
  const results = new Map<string, Result>()
  for (let round = 0; round < options.rounds; round++)
    for (const processes of round % 2 ? [2, 1] : [1, 2]) await measureRound(site, processes, options, results)
  for (const [name, { rates, latencies, serviceMs, serverMs }] of results) {
    console.log(`${name}: ${perSecond(median(rates))} (${rates.map(Math.round).join(' ')})`)
    console.log(`  p50 ${ms(percentile(latencies, 50))}, p99 ${ms(percentile(latencies, 99))}`)
    console.log(
      `  CPU time per request: ${median(serviceMs).toFixed(2)} ms of the service, ${median(serverMs).toFixed(2)} ms of PostgreSQL`,
    )
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`)
}

async function measureRound(site: Site, processes: number, { seconds, connections }: Options, results: Map<string, Result>) {
  const running = await site.serve('bench', { PROCESSES: String(processes) })
  await pinApiProcesses(running)
  const cpu = () => [cpuOf(running.pid), cpuOf(site.postmaster)] as const
  for (const { name, requests } of await workloadsOf(running)) {
    await running.load({ connections, seconds: Math.min(seconds, 2), requests })
    const [service, server] = cpu()
    const { succeeded, seconds: elapsed, latencies } = await running.load({ connections, seconds, requests })
    const [serviceAfter, serverAfter] = cpu()
    const key = `${name}, ${processes} API ${processes === 1 ? 'process' : 'processes'}`
    const result = results.get(key) ?? { rates: [], latencies: [], serviceMs: [], serverMs: [] }
    results.set(key, result)
    result.rates.push(succeeded / elapsed)
    result.latencies.push(...latencies)
    result.serviceMs.push((serviceAfter - service) / succeeded)
    result.serverMs.push((serverAfter - server) / succeeded)
    await waitUntilIdle(running.database)
  }
  await running.stop()
}

/** Pins each API process to a core of its own. */
async function pinApiProcesses({ pid }: Running) {
  const api = (await processesOf(pid)).filter(({ kind }) => kind === 'api')
  for (const [i, process] of api.entries()) {
    const core = String(i % availableParallelism())
    const { status } = spawnSync('taskset', ['-acp', core, String(process.pid)], { stdio: 'ignore' })
    if (status !== 0) console.log('taskset is not installed, so processes are not pinned')
  }
}
