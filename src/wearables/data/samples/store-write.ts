import { type Db, prepareStatement, runHotWrite } from '../../../platform/db/open.ts'
import { auditColumns, auditValues, type RequestRows } from '../../../platform/db/rows/request-rows.ts'
import { type ReceivedData, receivedValues } from '../store-states.ts'
import type { DayRow, SeriesScope } from './store-days.ts'

export type WrittenDay = DayRow & { samples: number }

type Event = { id: string; event_type: string; key: string; sealed: Buffer }
export type Batch = { scope: SeriesScope; days: WrittenDay[]; state: ReceivedData; events: Event[] }

/**
 * Writes days, the state of their resource, events and the audit row in one statement, or nothing if another request
 * wrote one of the days first. Returns the webhooks to wake.
 */
export async function writeBatch(db: Db, { scope, days, state, events }: Batch, audit?: RequestRows['audit']): Promise<string[]> {
  const values = [
    ...[...receivedValues(state), scope.resource],
    ...[days.map(({ day }) => day), days.map(({ source_type }) => source_type)],
    ...[days.map(({ samples }) => samples), days.map(({ revision }) => revision)],
    ...days.map(({ sealed }) => sealed),
    ...[events.map(({ id }) => id), events.map(({ event_type }) => event_type), events.map(({ key }) => key)],
    ...events.map(({ sealed }) => sealed),
    ...auditValues(audit),
  ]
  const rows = await runHotWrite<{ webhooks: string[] }>(db, statementFor(days.length, events.length), values)
  return rows[0]?.webhooks ?? []
}

/** The parameters before the ciphertext of the days, and between it and that of the events. */
const DAY_PARAMETERS = 14
const EVENT_PARAMETERS = 3
const MAX_PREPARED = 4
const texts = new Map<string, string>()

/** One statement per number of days and events. An array parameter would send ciphertext as text, twice as long. */
function statementFor(days: number, events: number) {
  const name = `write_samples_${days}_${events}`
  const cached = texts.get(name)
  if (cached) return cached
  let last = 0
  const next = (count: number) => Array.from({ length: count }, () => `$${++last}`).join(', ')
  const arrayOf = (count: number) => `array[${next(count)}]::bytea[]`
  const beforeMac = [next(DAY_PARAMETERS), arrayOf(days), next(EVENT_PARAMETERS), arrayOf(events), next(auditColumns.length - 1)]
  const mac = next(1)
  const lockMs = next(1)
  const text = `select write_samples(${[...beforeMac, lockMs, `audit_mac => ${mac}`].join(', ')}) as webhooks`
  if (days > MAX_PREPARED || events > MAX_PREPARED) return text
  texts.set(name, prepareStatement(name, text))
  return text
}
