import { type Db, prepareStatement, runPrepared } from '../../../platform/db/open.ts'
import { auditCall, auditColumns, outcomeCall, type RequestRows, requestRowValues } from '../../../platform/db/request-rows.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import type { OrderRow } from '../store.ts'

const columns = [
  'id',
  'team_id',
  'user_id',
  'transaction_id',
  'parent_id',
  'origin',
  'lab_id',
  'lab_test_id',
  'lab_account_id',
  'method',
  'low_level',
  'last_event',
  'last_event_at',
  'created_at',
  'updated_at',
  'registrable',
  'zone',
  'activate_by',
  'scheduled',
  'dispatch_at',
  'sent_at',
  'step_at',
  'simulation',
  'seed',
  'sample_id',
  'billing_type',
  'priority',
  'has_abn',
  'health_insurance_id',
  'collected_at',
  'expected_result_by_date',
  'worst_case_result_by_date',
  'interpretation',
  'has_missing_results',
  'result_version',
  'sealed',
  'terms',
] as const satisfies (keyof Tables['orders'])[]

type NewRow = {
  [C in (typeof columns)[number]]: C extends 'terms' ? string[] : C extends 'simulation' ? string | null : OrderRow[C & keyof OrderRow]
}

type NewEvent = { id: string; event_type: string; key: string; partial: boolean; sealed: Buffer }
type Info = { sealed: Buffer; terms: string[] }

export type OrderInsert = { row: NewRow; event: NewEvent; info?: Info | undefined; requestRows?: RequestRows | undefined }

const parameterAt = (i: number) => `$${i + 1}`
const parameter = (column: (typeof columns)[number]) => parameterAt(columns.indexOf(column))
/** Indexes of the first parameter of the event, the demographics and the request's rows. */
const EVENT = columns.length
const INFO = EVENT + 4
const REQUEST_ROWS = INFO + 2

const insertOrder = `
with placed as (insert into orders (${columns.join(', ')}) values (${columns.map((_, i) => parameterAt(i)).join(', ')})),
first as (insert into order_events (order_id, id, low_level, created_at)
  values (${parameter('id')}, ${parameter('last_event')}, ${parameter('low_level')}, ${parameter('last_event_at')}))`

const emitCreated = `
select emit(${parameterAt(EVENT)}, ${parameter('team_id')}, ${parameter('user_id')}, ${parameter('id')}, ${parameterAt(EVENT + 1)}, ${parameterAt(EVENT + 2)}, ${parameterAt(EVENT + 3)},
  ${parameter('created_at')}, false) as webhook_ids`

const putInfo = `, put_user_info(${parameter('user_id')}, ${parameter('team_id')}, ${parameterAt(INFO)}, ${parameterAt(INFO + 1)}, ${parameter('created_at')})`

/** The parameter names of placeAudited, for benchmarks of the bare statement. */
export const placeParameters = [
  ...columns,
  ...['id', 'event_type', 'key', 'sealed'].map((column) => `event.${column}`),
  ...['sealed', 'terms'].map((column) => `info.${column}`),
  ...auditColumns.map((column) => `audit.${column}`),
]

/** One round trip, prepared once per connection. */
const placeUnaudited = prepareStatement('place_order', insertOrder + emitCreated + putInfo)
export const placeAudited = prepareStatement('place_order_audited', `${insertOrder + emitCreated + putInfo}, ${auditCall(REQUEST_ROWS)}`)
const placeWithOutcome = prepareStatement(
  'place_order_with_outcome',
  `${insertOrder + emitCreated + putInfo}, ${auditCall(REQUEST_ROWS)}, ${outcomeCall(REQUEST_ROWS)}`,
)

/** Writes the order, its first order event, the emitted event, the demographics and the request's rows in one statement. */
export function insertOrderWithEvent(db: Db, { row, event, info, requestRows }: OrderInsert) {
  const values: unknown[] = columns.map((column) => row[column])
  values.push(event.id, event.event_type, event.key, event.sealed, info?.sealed ?? null, info?.terms ?? null)
  if (requestRows) values.push(...requestRowValues(requestRows))
  const text = requestRows?.outcome ? placeWithOutcome : requestRows ? placeAudited : placeUnaudited
  return runAndEmit(db, text, values)
}

const mutable = [
  'user_id',
  'low_level',
  'last_event',
  'last_event_at',
  'updated_at',
  'zone',
  'activate_by',
  'dispatch_at',
  'sent_at',
  'step_at',
  'simulation',
  'sample_id',
  'has_abn',
  'health_insurance_id',
  'collected_at',
  'expected_result_by_date',
  'worst_case_result_by_date',
  'interpretation',
  'has_missing_results',
  'result_version',
  'sealed',
] as const satisfies (keyof Tables['orders'])[]

const EVENT_OF_CHANGE = mutable.length + 1

const changeOrder = `
with changed as (update orders set changed_at = date_trunc('milliseconds', now()), ${mutable.map((column, i) => `${column} = ${parameterAt(i + 1)}`).join(', ')} where id = $1)`
const appendEvent = `,
event as (insert into order_events (order_id, id, low_level, status_detail, created_at)
  values ($1, ${parameterAt(mutable.indexOf('last_event') + 1)}, ${parameterAt(mutable.indexOf('low_level') + 1)}, ${parameterAt(EVENT_OF_CHANGE + 7)}, ${parameterAt(mutable.indexOf('last_event_at') + 1)}))`
const emitUpdated = `
select emit(${parameterAt(EVENT_OF_CHANGE)}, ${parameterAt(EVENT_OF_CHANGE + 1)}, ${parameterAt(mutable.indexOf('user_id') + 1)}, $1, ${parameterAt(EVENT_OF_CHANGE + 2)}, ${parameterAt(EVENT_OF_CHANGE + 3)}, ${parameterAt(EVENT_OF_CHANGE + 4)}, ${parameterAt(EVENT_OF_CHANGE + 5)}, ${parameterAt(EVENT_OF_CHANGE + 6)}) as webhook_ids`

const advance = prepareStatement('advance_order', changeOrder + appendEvent + emitUpdated)
const change = prepareStatement('change_order', changeOrder + emitUpdated)

/** Writes a change of a locked order and its event, with the new step if there is one. */
export function updateOrder(db: Db, row: OrderRow, event: NewEvent & { at: string }, step?: { status_detail: string | null }) {
  const values: unknown[] = [row.id, ...mutable.map((column) => (column === 'simulation' ? json(row.simulation) : row[column]))]
  values.push(event.id, row.team_id, event.event_type, event.key, event.sealed, event.at, event.partial)
  if (step) values.push(step.status_detail)
  return runAndEmit(db, step ? advance : change, values)
}

/** Returns the webhooks that have a new message. */
async function runAndEmit(db: Db, text: string, values: unknown[]) {
  const [row] = await runPrepared<{ webhook_ids: string[] }>(db, text, values, 'writing')
  return row?.webhook_ids ?? []
}

const json = (value: unknown) => (value === null ? null : JSON.stringify(value))
