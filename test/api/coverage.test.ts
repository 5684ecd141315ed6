import { VitalClient } from '@tryvital/vital-node'
import { expect, test } from 'vitest'
import { loadCatalogText } from '../../src/labs/catalog/file/actions.ts'
import { milesBetween } from '../../src/labs/geography/rules-distance.ts'
import { catalogFile } from '../support/catalog.ts'
import { placeOrder } from '../support/orders.ts'
import { anAddress } from '../support/people.ts'
import { errorOf, newDatabase, world } from '../support/world.ts'

const w = await world()
const { api } = w
const sdk = new VitalClient({ apiKey: w.team_api_key, environment: w.base, maxRetries: 0 })

const sitesNear = async (query: { zip_code: string; lab_id?: number; radius?: '10' | '25' | '50' | '100'; capabilities?: 'stat'[] }) =>
  (await api.getPscInfo({ query: { lab_id: 1, ...query } })).patient_service_centers.map(({ site_code, distance }) => [site_code, distance])

test('distances are those on the map', () => {
  const airports = { lax: { lat: 33.9416, lng: -118.4085 }, sfo: { lat: 37.6213, lng: -122.379 } }
  expect(milesBetween(airports.sfo, airports.lax)).toBeCloseTo(337, -1)
  expect(milesBetween(airports.sfo, airports.sfo)).toBe(0)
})

test('lists the sites of a lab within the radius, nearest first', async () => {
  expect(await sitesNear({ zip_code: '94110' })).toEqual([['QM-SFO-01', 0]])
  const [[site, miles] = []] = await sitesNear({ zip_code: '95113', radius: '50' })
  expect(site).toBe('QM-SFO-01')
  expect(miles).toBeGreaterThan(38)
  expect(miles).toBeLessThan(46)
  expect(await sitesNear({ zip_code: '95113' })).toEqual([])
  expect(await sitesNear({ zip_code: '85004', capabilities: ['stat'] })).toEqual([['QM-PHX-01', 0]])
  expect(await sitesNear({ zip_code: '94110', capabilities: ['stat'] })).toEqual([])
})

test('a ZIP code of unknown location has sites at an unknown distance', async () => {
  // 85001 has post office boxes only, so the Census Bureau gives it no area.
  const info = await api.getPscInfo({ query: { zip_code: '85001', lab_id: 1, radius: '10' } })
  expect(info.distance_known).toBe(false)
  expect(info.patient_service_centers.map(({ site_code, distance }) => [site_code, distance])).toEqual([['QM-PHX-01', -1]])
  const sdk = new VitalClient({ apiKey: w.team_api_key, environment: w.base, maxRetries: 0 })
  const typed = await sdk.labTests.getPscInfo({ zipCode: '85001', labId: 1, radius: '10' })
  expect(typed.patientServiceCenters.map(({ siteCode, distance }) => [siteCode, distance])).toEqual([['QM-PHX-01', -1]])
  expect(await sitesNear({ zip_code: '10099' })).toHaveLength(3)
  const area = await api.getAreaInfo({ query: { zip_code: '85001', labs: ['quest'] } })
  expect(area).toMatchObject({ distance_known: false, central_labs: { quest: { patient_service_centers: { within_radius: 1 } } } })
})

test('a lab offers no sites to a state that it does not serve', async () => {
  // Wrenfield excludes Hawaii, and 96850 is known to nobody but the post office.
  expect(await sitesNear({ zip_code: '96850', lab_id: 2, radius: '100' })).toEqual([])
})

test('the public SDK reads areas and sites, with the lab names that it knows', async () => {
  const area = await sdk.labTests.getAreaInfo({ zipCode: '85004', labs: ['quest', 'labcorp'] })
  expect(area.phlebotomy).toEqual({ isServed: true, providers: [{ name: 'getlabs', serviceTypes: ['appointment-ready'] }] })
  expect(area.centralLabs).toEqual({
    quest: {
      labId: 1,
      supportedBillTypes: ['client_bill', 'commercial_insurance', 'patient_bill'],
      patientServiceCenters: {
        appointmentWithVital: true,
        withinRadius: 1,
        radius: '25',
        capabilities: ['stat', 'appointment_scheduling_via_junction'],
      },
    },
    labcorp: {
      labId: 5,
      supportedBillTypes: ['client_bill', 'commercial_insurance'],
      patientServiceCenters: { appointmentWithVital: false, withinRadius: 0, radius: '25', capabilities: [] },
    },
  })
  expect(Object.keys((await sdk.labTests.getAreaInfo({ zipCode: '60602' })).centralLabs)).toEqual(['quest', 'sonora_quest', 'labcorp'])
  expect((await sdk.labTests.getAreaInfo({ zipCode: '10001' })).phlebotomy).toEqual({ isServed: false, providers: [] })
  const { id } = await placeOrder(api, 'walk_in_test', { patient_address: anAddress({ city: 'Chicago', state: 'IL', zip: '60602-1234' }) })
  expect(await sdk.labTests.getOrderPscInfo(id)).toMatchObject({
    labId: 1,
    slug: 'quillmoor',
    patientServiceCenters: [{ siteCode: 'QM-CHI-01', distance: 0, metadata: { city: 'Chicago', zipCode: '60602' } }],
  })
})

test('an order warns where no site or phlebotomist is in reach, as the area says', async () => {
  const warningsOf = async (method: 'walk_in_test' | 'at_home_phlebotomy', state: string, zip: string) =>
    (await placeOrder(api, method, { patient_address: anAddress({ state, zip }) })).warnings.map(({ code }) => code)
  expect(await warningsOf('walk_in_test', 'TX', '75201')).toContain('no_site_nearby')
  expect(await warningsOf('walk_in_test', 'AZ', '85001')).toContain('distance_unknown')
  expect(await warningsOf('walk_in_test', 'AZ', '85004')).toEqual(['consents_missing'])
  expect(await warningsOf('at_home_phlebotomy', 'TX', '75201')).toContain('home_draw_not_offered')
  expect(await warningsOf('at_home_phlebotomy', 'AZ', '85004')).toEqual(['consents_missing'])
})

test('rejects unknown labs, accounts and ZIP codes, and orders that visit no site', async () => {
  expect(await errorOf(api.getAreaInfo({ query: { zip_code: '85004', labs: ['moon'] } }))).toMatchObject({
    status: 400,
    detail: { error_type: 'UNKNOWN_LAB' },
  })
  expect(await errorOf(api.getPscInfo({ query: { zip_code: '85004', lab_id: 99 } }))).toMatchObject({ status: 400 })
  expect(await errorOf(api.getPscInfo({ query: { zip_code: '8500', lab_id: 1 } }))).toMatchObject({ status: 422 })
  const lab_account_id = '5f0c8f9e-4a0e-4a5b-8a67-6a7c4f1f2b11'
  expect(await errorOf(api.getAreaInfo({ query: { zip_code: '85004', lab_account_id } }))).toMatchObject({
    status: 400,
    detail: { error_type: 'UNKNOWN_LAB_ACCOUNT' },
  })
  const kit = await placeOrder(api, 'testkit')
  expect(await errorOf(api.getOrderPscInfo({ params: { order_id: kit.id } }))).toMatchObject({
    status: 404,
    detail: { error_type: 'NOT_A_WALK_IN' },
  })
})

test("the operator's catalog adds the location of a ZIP code, and the hours and phone number of a site", async () => {
  const production = await world({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })
  const zip_codes = [{ zip: '85001', lat: 33.451, lng: -112.071 }]
  const catalog = catalogFile as { patient_service_centers: object[] }
  const hours = { monday: [{ from: '07:00', to: '15:00' }] }
  const patient_service_centers = catalog.patient_service_centers.map((site) => ({ ...site, phone_number: '+16025550100', hours }))
  const text = JSON.stringify({ ...catalogFile, zip_codes, patient_service_centers, phlebotomy_coverage: [] })
  await loadCatalogText(production.app, text)
  const info = await production.api.getPscInfo({ query: { zip_code: '85001', lab_id: 1 } })
  expect(info).toMatchObject({
    distance_known: true,
    patient_service_centers: [{ site_code: 'QM-PHX-01', distance: 0, metadata: { phone_number: '+16025550100', hours } }],
  })
})
