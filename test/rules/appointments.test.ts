import { expect, test } from 'vitest'
import { Calendar } from '../../src/contract/labs/calendars.ts'
import { reservationEnds, visitAfterStep } from '../../src/labs/appointments/rules.ts'
import { freeSeats, slotAt, slotsOn, travelsTo } from '../../src/labs/schedule/rules-slots.ts'
import { addDays } from '../../src/platform/time.ts'

const aSite = (change: object = {}) =>
  Calendar.parse({
    kind: 'site',
    code: 'HARBOR-1',
    name: 'Harbor Clinic',
    provider: 'quillmoor',
    iana_timezone: 'America/New_York',
    slot_minutes: 30,
    capacity: 2,
    hours: { sunday: [{ from: '00:30', to: '04:00' }], monday: [{ from: '08:00', to: '09:30' }] },
    address: { first_line: '1 Pier', city: 'Boston', state: 'MA', zip_code: '02110' },
    location: { lng: -71.05, lat: 42.36 },
    ...change,
  })

const starts = (calendar: ReturnType<typeof aSite>, day: string) => slotsOn(calendar, day).map(({ start }) => start.slice(0, 16))

test('slots are in the time zone of the place, also in another one', () => {
  expect(starts(aSite(), '2026-03-02')).toEqual(['2026-03-02T13:00', '2026-03-02T13:30', '2026-03-02T14:00'])
  expect(starts(aSite(), '2026-03-09')).toEqual(['2026-03-09T12:00', '2026-03-09T12:30', '2026-03-09T13:00'])
  expect(starts(aSite({ iana_timezone: 'America/Phoenix' }), '2026-03-09')[0]).toBe('2026-03-09T15:00')
  expect(starts(aSite({ iana_timezone: 'Pacific/Honolulu' }), '2026-03-09')[0]).toBe('2026-03-09T18:00')
})

test('a day on which clocks change has fewer or more slots, and none twice', () => {
  // 00:30 to 04:00 lasts three and a half hours, two and a half in March, four and a half in November.
  expect(starts(aSite(), '2026-03-01')).toHaveLength(7)
  expect(starts(aSite(), '2026-03-08')).toEqual([
    '2026-03-08T05:30',
    '2026-03-08T06:00',
    '2026-03-08T06:30',
    '2026-03-08T07:00',
    '2026-03-08T07:30',
  ])
  const autumn = starts(aSite(), '2026-11-01')
  expect(autumn).toHaveLength(9)
  expect(new Set(autumn).size).toBe(9)
})

test('working hours that begin in the hour that a clock skips begin after it', () => {
  const night = aSite({ hours: { sunday: [{ from: '02:30', to: '04:00' }] } })
  expect(starts(night, '2026-03-08')).toEqual(['2026-03-08T07:30'])
})

test('29 February and the end of a year are days like others', () => {
  const everyDay = Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [day, [{ from: '08:00', to: '09:00' }]]),
  )
  expect(starts(aSite({ hours: everyDay }), '2028-02-29')).toEqual(['2028-02-29T13:00', '2028-02-29T13:30'])
  expect([addDays('2028-02-28', 1), addDays('2028-02-28', 2), addDays('2027-02-28', 1), addDays('2026-12-31', 1)]).toEqual([
    '2028-02-29',
    '2028-03-01',
    '2027-03-01',
    '2027-01-01',
  ])
})

test('there are no slots on holidays and days off', () => {
  expect(slotsOn(aSite({ holidays: ['2026-03-02'] }), '2026-03-02')).toEqual([])
  expect(slotsOn(aSite(), '2026-03-03')).toEqual([])
  expect(slotAt(aSite(), '2026-03-02T13:15:00.000Z')).toBeUndefined()
  expect(slotAt(aSite(), '2026-03-02T13:30:00.000Z')).toBeDefined()
})

test('a seat is free if no visit overlaps the slot, whatever the length of the visit', () => {
  const slot = { start: '2026-03-02T13:00:00.000Z', end: '2026-03-02T13:30:00.000Z' }
  expect(freeSeats(aSite(), slot, new Set())).toBe(2)
  expect(freeSeats(aSite(), slot, new Set(['HARBOR-1 1 2026-03-02T13:25:00.000Z']))).toBe(1)
  expect(freeSeats(aSite(), slot, new Set(['HARBOR-1 1 2026-03-02T13:30:00.000Z', 'HARBOR-1 2 2026-03-02T12:55:00.000Z']))).toBe(2)
})

test('a phlebotomist travels to the ZIP codes within the zones', () => {
  const { capacity: _, address: __, location: ___, ...base } = aSite() as Extract<Calendar, { kind: 'site' }>
  const phlebotomist = Calendar.parse({
    ...base,
    kind: 'phlebotomist',
    zones: [{ zip_code: '02110', radius_miles: 10 }, { zip_code: '03031' }],
  })
  const places: Record<string, { lat: number; lng: number }> = {
    '02110': { lat: 42.36, lng: -71.05 },
    '03031': { lat: 42.86, lng: -71.61 },
  }
  const travels = (zip: string, point?: { lat: number; lng: number }) =>
    travelsTo(phlebotomist, { zip, state: 'MA', point }, (zip) => places[zip])
  expect(travels('02139', { lat: 42.365, lng: -71.104 })).toBe(true)
  expect(travels('01601', { lat: 42.262, lng: -71.802 })).toBe(false)
  expect(travels('03031')).toBe(true)
  expect(travels('03055', { lat: 42.83, lng: -71.65 })).toBe(false)
})

test('a reservation ends eight hours after the order, or two hours before the visit', () => {
  const order = { low_level: 'ordered', method: 'walk_in_test' as const, created_at: '2026-03-01T10:00:00.000Z', scheduled: false }
  expect(reservationEnds(order, '2026-03-05T10:00:00.000Z')).toBe('2026-03-01T18:00:00.000Z')
  expect(reservationEnds(order, '2026-03-01T15:00:00.000Z')).toBe('2026-03-01T13:00:00.000Z')
  expect(reservationEnds({ ...order, scheduled: true }, '2026-03-05T10:00:00.000Z')).toBe('2026-03-05T08:00:00.000Z')
})

test('a visit follows its order', () => {
  const visit = { start_at: null, end_at: null }
  expect(visitAfterStep({ ...visit, status: 'confirmed', type: 'phlebotomy' }, 'cancelled')).toBe('cancelled')
  expect(visitAfterStep({ ...visit, status: 'confirmed', type: 'patient_service_center' }, 'cancelled')).toBeUndefined()
  expect(visitAfterStep({ ...visit, status: 'reserved', type: 'phlebotomy' }, 'requisition_created')).toBe('confirmed')
  expect(visitAfterStep({ ...visit, status: 'confirmed', type: 'patient_service_center' }, 'partial_results')).toBe('completed')
  expect(visitAfterStep({ ...visit, status: 'confirmed', type: 'phlebotomy' }, 'appointment_scheduled')).toBeUndefined()
})
