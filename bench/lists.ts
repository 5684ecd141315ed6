import { createClient } from '../src/contract/client.ts'
import { query } from '../test/support/databases.ts'
import { fillOrdersTo } from '../test/support/order-copies.ts'
import { cpuOf } from './cpu.ts'
import type { Load } from './load.ts'
import { ms, percentile } from './numbers.ts'
import { orderRequests, type Patient, patientsIn } from './patients.ts'
import type { Running, Site } from './site.ts'

/** The newest orders are real, so every requested page can be decrypted. */
const NEWEST = 120
const TIMES = 200
/** The process compiles what it runs often. */
const WARM_UP_TIMES = 300

export type Pages = Record<string, { p95: number; cpu: number }>
type Requests = Record<string, Load['requests'][number]>

/** Measures pages of orders in a team that grows to each size in turn. */
export async function measureLists(site: Site, sizes: number[]): Promise<Pages[]> {
  const url = site.urlOf('listed')
  const [patient] = await patientsIn(url)
  const measured: Pages[] = []
  let requests: Requests | undefined
  for (const size of sizes) {
    await fillOrdersTo(url, requests ? size : size - NEWEST)
    const running = await site.serve('listed')
    requests ??= await placeNewest(running, patient as Patient)
    measured.push(await measurePages(running, requests))
    await running.stop()
  }
  return measured
}

export function printLists(sizes: number[], pages: Pages[]) {
  const counts = sizes.map((size) => size.toLocaleString('en')).join(' and ')
  console.log(
    `lists and reads, p95 and CPU time of the service, of ${TIMES} with ${counts} orders; the pages show orders that the service placed, the other rows are copies`,
  )
  for (const name of Object.keys(pages[0] ?? {})) {
    const all = pages.flatMap((page) => page[name] ?? [])
    const factor = ((all.at(-1)?.p95 ?? Number.NaN) / (all[0]?.p95 ?? Number.NaN)).toFixed(1)
    const list = (pick: 'p95' | 'cpu') => all.map((page) => ms(page[pick])).join(', ')
    console.log(`  ${name}: ${list('p95')}, factor ${factor}; CPU ${list('cpu')}`)
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

async function measurePages(running: Running, pages: Requests) {
  const measured: Pages = {}
  for (const [name, request] of Object.entries(pages)) {
    await running.load({ connections: 1, times: WARM_UP_TIMES, requests: [request] })
    const before = cpuOf(running.pid)
    const { latencies } = await running.load({ connections: 1, times: TIMES, requests: [request] })
    measured[name] = { p95: percentile(latencies, 95), cpu: (cpuOf(running.pid) - before) / TIMES }
  }
  return measured
}
