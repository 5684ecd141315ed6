import { type Db, prepareStatement, runHotWrite, runPrepared } from '../../../platform/db/open.ts'
import { auditColumns, auditValues, outcomeColumns, outcomeValues, type RequestRows } from '../../../platform/db/rows/request-rows.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import type { OrderRow } from '../store.ts'

/** The columns of a new order. */
export const columns = [
  'team_id',
  'id',
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

export type NewEvent = { id: string; event_type: string; key: string; partial: boolean; sealed: Buffer }
type Info = { sealed: Buffer; terms: string[] }

export type OrderInsert = { row: NewRow; event: NewEvent; info?: Info | undefined; requestRows?: RequestRows | undefined }

/** The parameters of place_order, in order. */
export const placeParameters = [
  ...columns,
  ...['id', 'event_type', 'key', 'sealed'].map((column) => `event.${column}`),
  ...['sealed', 'terms'].map((column) => `info.${column}`),
  ...auditColumns.map((column) => `audit.${column}`),
  ...outcomeColumns.map((column) => `outcome.${column}`),
  'lock_ms',
]

const callOf = (name: string, parameters: string[]) => prepareStatement(name, `select ${name}(${argumentsOf(parameters)}) as webhook_ids`)

/** An argument that the function got later has a default and is passed by its name. */
const argumentsOf = (parameters: string[]) => {
  const values = parameters.map((name, i) => ({ name, value: `$${i + 1}` }))
  return [
    ...values.filter(({ name }) => name !== AUDIT_MAC).map(({ value }) => value),
    ...values.filter(({ name }) => name === AUDIT_MAC).map(({ value }) => `audit_mac => ${value}`),
  ].join(', ')
}

const AUDIT_MAC = 'audit.mac'

/** The webhooks that have a new message. */
export type Emitted = { webhook_ids: string[] }

/** One round trip, prepared once per connection. Benchmarks run the bare statement. */
export const placeOrder = callOf('place_order', placeParameters)

/** Writes the order, its first order event, the emitted event, the demographics and the request's rows. */
export async function insertOrderWithEvent(db: Db, { row, event, info, requestRows }: OrderInsert) {
  const [placed] = await runHotWrite<Emitted>(db, placeOrder, [
    ...columns.map((column) => row[column]),
    ...[event.id, event.event_type, event.key, event.sealed],
    ...[info?.sealed, info?.terms],
    ...auditValues(requestRows?.audit),
    ...outcomeValues(requestRows?.outcome),
  ])
  return placed?.webhook_ids ?? []
}

/** The columns of an order that change. */
export const mutable = [
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

const changeOrder = callOf('update_order', [
  ...['team_id', 'id', ...mutable],
  ...['id', 'event_type', 'key', 'sealed', 'at', 'partial'].map((column) => `event.${column}`),
  ...['is_step', 'status_detail'],
])

/** Writes a change of a locked order and its event, with the new step if there is one. */
export async function updateOrder(db: Db, row: OrderRow, event: NewEvent & { at: string }, step?: { status_detail: string | null }) {
  const [updated] = await runPrepared<Emitted>(db, changeOrder, [
    ...[row.team_id, row.id],
    ...mutable.map((column) => (column === 'simulation' ? json(row.simulation) : row[column])),
    ...[event.id, event.event_type, event.key, event.sealed, event.at, event.partial],
    ...[step !== undefined, step?.status_detail],
  ])
  return updated?.webhook_ids ?? []
}

const json = (value: unknown) => (value === null ? null : JSON.stringify(value))
