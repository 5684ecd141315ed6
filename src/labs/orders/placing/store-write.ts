import { type Db, parameterList, prepareStatement, run } from '../../../platform/db/open.ts'
import { type EventRow, eventValues } from '../../../platform/db/rows/event-rows.ts'
import { type RequestRows, requestValues } from '../../../platform/db/rows/request-rows.ts'
import { byteaArray, rowSet } from '../../../platform/db/rows/row-sets.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import type { OrderRow } from '../store.ts'

/** The columns of an order that its writers set, without the team and the ciphertext, which are parameters of their own. */
const columns = [
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
] as const satisfies (keyof Tables['orders'])[]

type Info = { sealed: Buffer; terms: string[] }

export type OrderInsert = {
  row: OrderRow & { terms: string[] }
  event: EventRow
  info?: Info | undefined
  requestRows?: RequestRows | undefined
}

/** Benchmarks run the bare statement. */
export const placeOrders = prepareStatement('place_orders', `select place_orders(${parameterList(11)})`, { hot: 'write', locks: true })

/** Writes orders of a team with their first order events, their events, the demographics and the rows of their requests. */
export async function insertOrders(db: Db, team_id: string, inserts: OrderInsert[]) {
  const rows = inserts.map(({ row }) => row)
  const infos = inserts.flatMap(({ row, info }) => (info ? [{ ...info, user_id: row.user_id, updated_at: row.created_at }] : []))
  const values = [
    ...[team_id, rowSet(rows, [...columns, 'terms']), byteaArray(rows.map(({ sealed }) => sealed))],
    ...[rowSet(infos, ['user_id', 'terms', 'updated_at']), byteaArray(infos.map(({ sealed }) => sealed))],
    ...eventValues(inserts.map(({ event }) => event)),
    ...requestValues(inserts.map(({ requestRows }) => requestRows)),
  ]
  await run(db, placeOrders, values, { items: inserts.length })
}

export type OrderUpdate = {
  row: OrderRow
  event: EventRow
  /** The detail of a new step. Absent for a change without one. */
  step?: { status_detail: string | null }
  hasNewDocument: boolean
}

const updateStatement = prepareStatement('update_orders', 'select update_orders($1, $2, $3, $4, $5, $6)')

/** Writes changes of locked orders of a team and their events, with the new steps of those that have one. */
export async function updateOrders(db: Db, team_id: string, updates: OrderUpdate[]) {
  const steps = updates.flatMap(({ row: { id, last_event, low_level, last_event_at }, step }) =>
    step ? [{ order_id: id, id: last_event, low_level, status_detail: step.status_detail, created_at: last_event_at }] : [],
  )
  const values = [
    ...[
      team_id,
      rowSet(
        updates.map(({ row }) => row),
        columns,
      ),
    ],
    byteaArray(updates.map(({ row, hasNewDocument }) => (hasNewDocument ? row.sealed : null))),
    rowSet(steps, ['order_id', 'id', 'low_level', 'status_detail', 'created_at']),
    ...eventValues(updates.map(({ event }) => event)),
  ]
  await run(db, updateStatement, values)
}
