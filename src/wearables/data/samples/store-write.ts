import { type Db, prepareStatement, runPrepared } from '../../../platform/db/open.ts'
import { auditCall, type RequestRows, requestRowValues } from '../../../platform/db/request-rows.ts'
import { type ReceivedData, receivedText, receivedValues } from '../store-states.ts'
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
    ...receivedValues(state),
    ...(days.length ? [scope.resource] : []),
    ...days.flatMap(({ day, source_type, samples, revision, sealed }) => [day, source_type, samples, revision, sealed]),
    ...events.flatMap(({ id, event_type, key, sealed }) => [id, event_type, key, sealed]),
    ...(audit ? requestRowValues({ audit }) : []),
  ]
  const text = statementFor(days.length, events.length, audit !== undefined)
  const rows = await runPrepared<{ webhooks: string[] }>(db, text, values, 'writing')
  return rows[0]?.webhooks ?? []
}

const STATE_PARAMETERS = 9
const dayTypes = ['date', 'text', 'integer', 'integer', 'bytea']
const eventTypes = ['uuid', 'text', 'text', 'bytea']
const MAX_PREPARED = 4
const texts = new Map<string, string>()

/** One statement per number of days and events. Array parameters would send ciphertext as text, twice as long. */
function statementFor(days: number, events: number, audited: boolean) {
  const name = `write_samples_${days}_${events}${audited ? '_audited' : ''}`
  const cached = texts.get(name)
  if (cached) return cached
  const firstDay = STATE_PARAMETERS + (days ? 1 : 0)
  const firstEvent = firstDay + days * dayTypes.length
  const parts = [
    ...(days ? [daysText(rowsOf(firstDay, days, dayTypes))] : []),
    `state as (${receivedText})`,
    `emitted as (${emitText(rowsOf(firstEvent, events, eventTypes))})`,
  ]
  const columns = [
    "(select coalesce(array_agg(distinct webhook), '{}') from emitted, unnest(emitted.webhooks) as webhook) as webhooks",
    ...(days ? [`all_written((select count(*) from days), ${days})`] : []),
    ...(audited ? [auditCall(firstEvent + events * eventTypes.length)] : []),
  ]
  const text = `with ${parts.join(', ')} select ${columns.join(', ')}`
  if (days > MAX_PREPARED || events > MAX_PREPARED) return text
  texts.set(name, prepareStatement(name, text))
  return text
}

/** Rows of parameter placeholders, after `first` earlier parameters. */
const rowsOf = (first: number, count: number, types: string[]) =>
  Array.from(
    { length: count },
    (_, row) => `(${types.map((type, i) => `$${first + row * types.length + i + 1}::${type}`).join(', ')})`,
  ).join(', ')

const daysText = (rows: string) => `days as (
  insert into sample_days as d (team_id, user_id, resource, provider, day, source_type, samples, revision, sealed)
  select $1::uuid, $2::uuid, $10::text, $3::text, t.* from (values ${rows}) as t (day, source_type, samples, revision, sealed)
  on conflict (user_id, resource, day, provider, source_type)
  do update set samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed
  where d.revision = excluded.revision - 1
  returning 1
)`

const emitText = (rows: string) =>
  rows
    ? `select emit(e.id, $1::uuid, $2::uuid, null, e.event_type, e.key, e.sealed, $9::timestamptz, false) as webhooks
       from (values ${rows}) as e (id, event_type, key, sealed)`
    : "select '{}'::uuid[] as webhooks"
