import { createClient } from '../src/contract/client.ts'
import { query } from '../test/support/databases.ts'
import { fillOrdersTo } from '../test/support/order-copies.ts'
import { cpuOf } from './cpu.ts'
import type { Load } from './load.ts'
import { ms, percentile } from './numbers.ts'
import { orderRequests, type Patient, patientsIn } from './patients.ts'
import type { Running, Site } from './site.ts'

const FEW = 10_000
/** The newest orders are real, so every requested page can be decrypted. */
const NEWEST = 120
const TIMES = 200
/** The process compiles what it runs often. */
const WARM_UP_TIMES = 100

/** Compares the time of a page of orders in a small and in a large team. */
export async function benchLists(site: Site, most: number) {
  const url = site.urlOf('listed')
  await fillOrdersTo(url, FEW - NEWEST)
  const running = await site.serve('listed')
  const [patient] = await patientsIn(url)
  const pages = await placeNewest(running, patient as Patient)
  const few = await measurePages(running, pages)
  await running.stop()
  await fillOrdersTo(url, most)
  const restarted = await site.serve('listed')
  const many = await measurePages(restarted, pages)
  await restarted.stop()
  console.log(
    `lists and reads, p95 and CPU time of the service, of ${TIMES} with ${FEW.toLocaleString('en')} and ${most.toLocaleString('en')} orders; the pages show orders that the service placed, the other rows are copies`,
  )
  for (const [name, before] of Object.entries(few)) {
    const after = many[name] as Measured
    const factor = (after.p95 / before.p95).toFixed(1)
    console.log(`  ${name}: ${ms(before.p95)}, ${ms(after.p95)}, factor ${factor}; CPU ${ms(before.cpu)}, ${ms(after.cpu)}`)
  }
}

type Requests = Record<string, Load['requests'][number]>
type Measured = { p95: number; cpu: number }

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
    'the first page': list(''),
    'status=requisition_created': list('?status=requisition_created'),
    'interpretation=abnormal': list('?interpretation=abnormal'),
    user_id: list(`?user_id=${patient.user_id}`),
    patient_name: list(`?patient_name=${encodeURIComponent(`${first_name} ${last_name}`)}`),
    'one order': { method: 'GET', path: `/v3/order/${ids[0]?.id}` },
    'users by name': { method: 'POST', path: '/v2/user/search', body: JSON.stringify({ query: `${first_name} ${last_name}` }) },
  }
}

async function measurePages(running: Running, pages: Requests) {
  const measured: Record<string, Measured> = {}
  for (const [name, request] of Object.entries(pages)) {
    await running.load({ connections: 1, times: WARM_UP_TIMES, requests: [request] })
    const before = cpuOf(running.pid)
    const { latencies } = await running.load({ connections: 1, times: TIMES, requests: [request] })
    measured[name] = { p95: percentile(latencies, 95), cpu: (cpuOf(running.pid) - before) / TIMES }
  }
  return measured
}
