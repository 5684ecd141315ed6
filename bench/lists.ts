import { createClient } from '../src/contract/client.ts'
import { query } from '../test/support/databases.ts'
import { fillOrdersTo } from '../test/support/order-copies.ts'
import { ms, percentile } from './numbers.ts'
import { orderRequests, type Patient, patientsIn } from './patients.ts'
import type { Running, Site } from './site.ts'

const FEW = 10_000
/** The newest orders are real, so every requested page can be decrypted. */
const NEWEST = 120
const TIMES = 60

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
    `GET /v3/orders, p95 of ${TIMES} with ${FEW.toLocaleString('en')} and ${most.toLocaleString('en')} orders; the pages show orders that the service placed, the other rows are copies`,
  )
  for (const [name, time] of Object.entries(few)) {
    const factor = (many[name] as number) / time
    console.log(`  ${name}: ${ms(time)}, ${ms(many[name] as number)}, factor ${factor.toFixed(1)}`)
  }
}

/** Creates orders of one patient, the newer half with results, and the requests that list them. */
async function placeNewest(running: Running, patient: Patient) {
  await running.load({ connections: 4, times: NEWEST, requests: await orderRequests(running, [patient]) })
  const ids = await query<{ id: string }>(running.database, 'select id from orders order by created_at desc, id desc limit $1', [
    NEWEST / 2,
  ])
  const api = createClient(running.url, running.headers)
  for (const { id } of ids) await api.simulateOrder({ params: { order_id: id }, body: { interpretation: 'abnormal' } })
  const { first_name, last_name } = patient.patient_details
  return {
    'the first page': '',
    'status=requisition_created': '?status=requisition_created',
    'interpretation=abnormal': '?interpretation=abnormal',
    user_id: `?user_id=${patient.user_id}`,
    patient_name: `?patient_name=${encodeURIComponent(`${first_name} ${last_name}`)}`,
  }
}

async function measurePages(running: Running, pages: Record<string, string>) {
  const times: Record<string, number> = {}
  for (const [name, search] of Object.entries(pages)) {
    const requests = [{ method: 'GET', path: `/v3/orders${search}` }]
    await running.load({ connections: 1, times: 5, requests })
    const { latencies } = await running.load({ connections: 1, times: TIMES, requests })
    times[name] = percentile(latencies, 95)
  }
  return times
}
