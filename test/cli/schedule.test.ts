import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { dispatchDueOrders } from '../../src/labs/orders/progress/dispatch.ts'
import { placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { errorOf, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const cli = assay(w.url)

const site = {
  kind: 'site',
  code: 'HUB-1',
  name: 'Shared Hub',
  provider: 'quillmoor',
  iana_timezone: 'America/Phoenix',
  slot_minutes: 60,
  hours: Object.fromEntries(['monday', 'tuesday', 'wednesday', 'thursday', 'friday'].map((day) => [day, [{ from: '08:00', to: '12:00' }]])),
  address: { first_line: '1 Pier', city: 'Phoenix', state: 'AZ', zip_code: '85004' },
  location: { lng: -112.07, lat: 33.45 },
  phone_number: '+16025550100',
}

function fileWith(schedule: unknown) {
  const path = join(temporaryFolder(), 'schedule.json')
  writeFileSync(path, JSON.stringify(schedule))
  return path
}

const slotsOf = async (api: Client, code = 'HUB-1') =>
  (await api.listCenterSlots({ query: { lab: 'quest', site_codes: [code] } })).slots.flatMap(({ slots }) => slots)
const book = (api: Client, order_id: string, booking_key: string) => api.bookCenterVisit({ params: { order_id }, body: { booking_key } })

test('teams share the time of a site that the operator loads, and cannot overbook it', async () => {
  expect(await cli.json('schedule', 'load', '--file', fileWith({ calendars: [site] }))).toMatchObject({ calendars: [{ code: 'HUB-1' }] })
  const [one, two] = [await w.tenant(), await w.tenant()]
  const orders = await Promise.all([one, two].map(({ api }) => placeOrder(api)))
  await dispatchDueOrders(w.app)
  const [slot, next] = await slotsOf(one.api)
  expect((await slotsOf(two.api))[0]).toEqual(slot)
  const both = await Promise.all([one, two].map(({ api }, i) => errorOf(book(api, orders[i]?.id as string, slot?.booking_key as string))))
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
  for (const { api } of [one, two]) expect((await slotsOf(api))[0]?.start).toBe(next?.start)
  const [winner, loser] = both[0]?.status === 200 ? [one, two] : [two, one]
  const booked = orders[winner === one ? 0 : 1]
  await winner.api.rescheduleCenterVisit({ params: { order_id: booked?.id as string }, body: { booking_key: next?.booking_key as string } })
  expect((await slotsOf(loser.api))[0]?.start).toBe(slot?.start)
  const { patient_service_centers } = await one.api.getPscInfo({ query: { zip_code: '85004', lab_id: 1 } })
  expect(patient_service_centers.find(({ site_code }) => site_code === 'HUB-1')?.metadata).toMatchObject({
    phone_number: '+16025550100',
    hours: site.hours,
  })
  await winner.api.resetTeam({ body: { team_id: winner.team_id } })
  expect(await query(w.url, 'select 1 from shared_cells')).toEqual([])
})

test('a team has its own schedule, and a wrong file changes nothing', async () => {
  const { api, team_id } = await w.tenant()
  const own = { ...site, code: 'OWN-1' }
  expect((await cli.run('schedule', 'load', '--file', fileWith({ calendars: [own] }), '--team', team_id)).out).toContain(
    'loaded 1 calendars',
  )
  expect((await api.getSchedule()).calendars.map(({ code }) => code)).toEqual(['OWN-1'])
  const wrong = { ...own, hours: { monday: [{ from: '12:00', to: '08:00' }] } }
  const refused = await cli.run('schedule', 'load', '--file', fileWith({ calendars: [wrong] }), '--team', team_id)
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('calendars.0.hours.monday.0') })
  expect((await cli.run('schedule', 'show', '--team', team_id)).out).toContain('OWN-1')
})
