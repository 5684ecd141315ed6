import { DAY, HOUR, MINUTE } from '../../../../platform/time.ts'

/** A record of the cloud. `uploaded_at` is when the cloud got it; it shows records later. */
export type DexcomRecord = { recordId: string; at: number; uploaded_at: number; fields: Record<string, unknown> }

export type DexcomUser = { id: string; egvs: Map<string, DexcomRecord>; events: Map<string, DexcomRecord> }

const OFFSET_MS = -7 * HOUR

/** Phones write an offset, and receivers do not. Some leave out the seconds. */
function timesOf(at: number, device: string) {
  const [utc, local] = [new Date(at).toISOString(), new Date(at + OFFSET_MS).toISOString()]
  const end = at % MINUTE === 0 ? 16 : 19
  return device === 'receiver'
    ? { systemTime: utc.slice(0, 19), displayTime: local.slice(0, 19) }
    : { systemTime: `${utc.slice(0, end)}Z`, displayTime: `${local.slice(0, end)}-07:00` }
}

/** A number from 0 to 1 that looks random. */
const noise = (seed: number) => Math.abs(Math.sin(seed * 12.9898) * 43_758.5453) % 1

const EVERY_MS = 15 * MINUTE

/** A person with a sensor, and their data up to a time. The same arguments always give the same data. */
export function newDexcomUser(id: string, until: string, days: number): DexcomUser {
  const user: DexcomUser = { id, egvs: new Map(), events: new Map() }
  const end = Date.parse(until)
  const start = Math.floor(end / DAY) * DAY - days * DAY
  for (let at = start + 2 * MINUTE; at < end; at += EVERY_MS) addEgv(user, at)
  for (let day = start; day < end; day += DAY) addEvents(user, day, end)
  return user
}

/** Values come from phones, except in every seventh hour. Some are outside what the sensor measures. */
export function addEgv(user: DexcomUser, at: number, change: Record<string, unknown> = {}, uploaded_at = at) {
  const device = Math.floor(at / HOUR) % 7 === 0 ? 'receiver' : 'iOS'
  const value = 80 + Math.round(140 * noise(Math.floor(at / EVERY_MS)))
  const recordId = `egv-${at}`
  user.egvs.set(recordId, {
    ...{ recordId, at, uploaded_at },
    fields: {
      ...{ ...timesOf(at, device), value, unit: 'mg/dL', trend: 'flat', trendRate: 0.2, rateUnit: 'mg/dL/min', status: 'ok' },
      ...{ transmitterId: 'a1b2c3', transmitterTicks: 5000, transmitterGeneration: 'g7', displayDevice: device, displayApp: 'G7' },
      ...change,
    },
  })
}

type NewEvent = { id: string; at: number; uploaded_at?: number }

export function addEvent(user: DexcomUser, { id, at, uploaded_at = at }: NewEvent, fields: Record<string, unknown>) {
  user.events.set(id, {
    ...{ recordId: id, at, uploaded_at },
    fields: { ...timesOf(at, 'iOS'), eventStatus: 'created', eventSubType: null, value: null, unit: null, ...fields },
  })
}

function addEvents(user: DexcomUser, day: number, end: number) {
  const add = (hour: number, fields: Record<string, unknown>) => {
    const at = day + hour * HOUR + 30_000
    if (at < end) addEvent(user, { id: `event-${at}`, at }, fields)
  }
  add(14, { eventType: 'carbs', value: '45', unit: 'grams' })
  add(15, { eventType: 'insulin', eventSubType: 'fastActing', value: '4.5', unit: 'units' })
  add(5, { eventType: 'insulin', eventSubType: 'longActing', value: '12', unit: 'units' })
  add(16, { eventType: 'exercise', eventSubType: 'medium', value: '30', unit: 'minutes' })
  add(17, { eventType: 'bloodGlucose', value: '112', unit: 'mg/dL' })
  add(18, { eventType: 'health', eventSubType: 'stress' })
  add(19, { eventType: 'notes', value: 'Felt tired.' })
  add(20, { eventType: 'carbs', value: '10', unit: 'grams', eventStatus: 'deleted' })
}
