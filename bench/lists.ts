import { createClient } from '../src/contract/client.ts'
import { query } from '../test/support/databases.ts'
import { fillOrdersTo } from '../test/support/order-copies.ts'
import { cpuOf } from './cpu.ts'
import type { Load } from './load.ts'
import { median, ms, percentile } from './numbers.ts'
import { orderRequests, type Patient, patientsIn } from './patients.ts'
import type { Running, Site } from './site.ts'
import { inTurn, type Version } from './versions.ts'

/** The newest orders are real, so every requested page can be decrypted. */
const NEWEST = 120
const TIMES = 200
/** The process compiles what it runs often. */
const WARM_UP_TIMES = 300

/** Times in milliseconds. CPU times are medians of one request. */
export type Pages = Record<string, { p95: number; serviceMs: number; serverMs: number }>
type Requests = Record<string, Load['requests'][number]>
type Served = { site: Site; running: Running; requests: Requests }

/** Measures pages of orders of each version, in a team that grows to each size in turn. */
export async function measureLists(versions: Version[], sizes: number[], rounds: number): Promise<Pages[][]> {
  const measured: Pages[][] = versions.map(() => [])
  const requests = new Map<Site, Requests>()
  for (const size of sizes) {
    const served: Served[] = []
    for (const { site, waitUntilIdle } of versions) {
      const url = site.urlOf('listed')
      await fillOrdersTo(url, requests.has(site) ? size : size - NEWEST)
      const running = await site.serve('listed')
      if (!requests.has(site)) requests.set(site, await placeNewest(running, (await patientsIn(url))[0] as Patient))
      await waitUntilIdle(url)
      served.push({ site, running, requests: requests.get(site) as Requests })
    }
    for (const [i, pages] of (await measurePages(served, rounds)).entries()) measured[i]?.push(pages)
    for (const { running } of served) await running.stop()
  }
  return measured
}

export function printLists(versions: Version[], sizes: number[], measured: Pages[][]) {
  const counts = sizes.map((size) => size.toLocaleString('en')).join(' and ')
  console.log(
    `\nlists and reads, p95 and CPU time of the service and of PostgreSQL, of rounds of ${TIMES} with ${counts} orders; the pages show orders that the service placed, the other rows are copies`,
  )
  for (const [i, pages] of measured.entries()) {
    console.log(versions[i]?.name)
    for (const name of Object.keys(pages[0] ?? {})) {
      const all = pages.flatMap((page) => page[name] ?? [])
      const factor = ((all.at(-1)?.p95 ?? Number.NaN) / (all[0]?.p95 ?? Number.NaN)).toFixed(1)
      const cpu = (pick: 'serviceMs' | 'serverMs') => all.map((page) => page[pick].toFixed(2)).join(', ')
      console.log(`  ${name}: ${all.map(({ p95 }) => ms(p95)).join(', ')}, factor ${factor}`)
      console.log(`    CPU ${cpu('serviceMs')} ms of the service, ${cpu('serverMs')} ms of PostgreSQL`)
    }
  }
}

/** Creates orders of one patient, the newer half with results, and the requests that list and read them. */
async function placeNewest(running: Running, patient: Patient): Promise<Requests> {
  await running.load({ connections: 4, times: NEWEST, requests: await orderRequests(running, [patient]) })
  const ids = await query<{ id: string }>(running.database, 'select id from orders order by created_at desc, id desc limit $1', [
    NEWEST / 2,
  ])
  const api = createClient(running.url, running.headers)
  for (const { id } of ids) await api.simulateOrder({ params: { order_id: id }, body: { interpretation: 'abnormal' } })
  const { first_name, last_name } = patient.patient_details
  const list = (search: string) => ({ method: 'GET', path: `/v3/orders${search}` })
  return {
    'First page of orders': list(''),
    'Orders by status': list('?status=requisition_created'),
    'Orders by interpretation': list('?interpretation=abnormal'),
    'Orders by user': list(`?user_id=${patient.user_id}`),
    'Orders by patient name': list(`?patient_name=${encodeURIComponent(`${first_name} ${last_name}`)}`),
    'One order': { method: 'GET', path: `/v3/order/${ids[0]?.id}` },
    'Users by name': { method: 'POST', path: '/v2/user/search', body: JSON.stringify({ query: `${first_name} ${last_name}` }) },
  }
}

async function measurePages(served: Served[], rounds: number) {
  const measured = served.map((): Pages => ({}))
  for (const name of Object.keys(served[0]?.requests ?? {}))
    for (const [i, page] of (await measurePage(served, name, rounds)).entries()) Object.assign(measured[i] ?? {}, { [name]: page })
  return measured
}

async function measurePage(served: Served[], name: string, rounds: number) {
  const sides = served.map(({ site, running, requests }) => {
    const load = (times: number) => running.load({ connections: 1, times, requests: [requests[name] as Load['requests'][number]] })
    const cpu = () => ({ service: cpuOf(running.pid), server: cpuOf(site.postmaster) })
    return { load, cpu, latencies: [] as number[], serviceMs: [] as number[], serverMs: [] as number[] }
  })
  for (const { load } of sides) await load(WARM_UP_TIMES)
  await inTurn(sides, rounds, async (side) => {
    const before = side.cpu()
    side.latencies.push(...(await side.load(TIMES)).latencies)
    const after = side.cpu()
    side.serviceMs.push((after.service - before.service) / TIMES)
    side.serverMs.push((after.server - before.server) / TIMES)
  })
  return sides.map(({ latencies, serviceMs, serverMs }) => ({
    p95: percentile(latencies, 95),
    serviceMs: median(serviceMs),
    serverMs: median(serverMs),
  }))
}
