import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/contract/client.ts'
import { weekdays } from '../../src/contract/labs/hours.ts'
import { placeOrder } from '../support/orders.ts'
import { eventually, readCredentials, startProcess } from '../support/process.ts'
import { errorOf } from '../support/world.ts'

type Options = { rounds: number; print?: (line: string) => void }

/** In each round, two requests book the last slot at the same time. Returns the rounds that did not give one visit and one refusal. */
export async function tortureBookings({ rounds, print = () => {} }: Options) {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'assay-torture-'))
  const service = await startProcess({ DATA_DIR })
  try {
    const { team_api_key } = readCredentials(DATA_DIR)
    const api = createClient(service.url, { 'x-service-api-key': team_api_key })
    const keys = await openSite(api, rounds)
    const faults: string[] = []
    for (const [round, booking_key] of keys.entries()) {
      const orders = await Promise.all([placeOrder(api), placeOrder(api)])
      for (const { id } of orders) await eventually(() => isAccepted(api, id))
      const both = await Promise.all(
        orders.map(({ id }) => errorOf(api.bookCenterVisit({ params: { order_id: id }, body: { booking_key } }))),
      )
      const outcome = both
        .map(({ status }) => status)
        .sort()
        .join(' and ')
      if (outcome !== '200 and 400') faults.push(`round ${round + 1}: ${outcome}`)
      if ((round + 1) % 20 === 0) print(`${round + 1} rounds, ${faults.length} faults`)
    }
    return faults
  } finally {
    await service.stop()
    rmSync(DATA_DIR, { recursive: true, force: true })
  }
}

type Api = ReturnType<typeof createClient>

/** A site with one seat and short slots all day. Returns the booking keys of as many slots as there are rounds. */
async function openSite(api: Api, rounds: number) {
  const hours = Object.fromEntries(weekdays.map((day) => [day, [{ from: '00:00', to: '24:00' }]]))
  const address = { first_line: '1 Pier', city: 'Phoenix', state: 'AZ', zip_code: '85004' }
  const site = {
    kind: 'site' as const,
    code: 'RACE-1',
    name: 'Race',
    provider: 'quillmoor',
    iana_timezone: 'America/Phoenix',
    slot_minutes: 5,
  }
  await api.putSchedule({ body: { calendars: [{ ...site, hours, address, location: { lng: -112.07, lat: 33.45 } }] } })
  const { slots } = await api.listCenterSlots({ query: { lab: 'quillmoor', site_codes: ['RACE-1'] } })
  return slots
    .flatMap(({ slots }) => slots)
    .slice(-rounds)
    .map(({ booking_key }) => booking_key)
}

const isAccepted = async (api: Api, order_id: string) =>
  (await api.getOrder({ params: { order_id } })).last_event?.status.endsWith('requisition_created')
