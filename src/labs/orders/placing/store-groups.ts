import { type Db, type PipelinedDb, parameterList, prepareStatement, runGroupWrite, runPrepared } from '../../../platform/db/open.ts'
import { auditColumns, outcomeColumns } from '../../../platform/db/rows/request-rows.ts'
import { joinCiphertexts, pickValues, rowSet } from '../../../platform/db/rows/row-sets.ts'
import type { OrderRow } from '../store.ts'
import { columns, type Emitted, mutable, type NewEvent, type OrderInsert } from './store-write.ts'

const placeOrders = prepareStatement('place_orders', `select place_orders(${parameterList(8)}) as webhook_ids`)

/** An order with more bytes does not share a statement: the others would wait for it. */
const MAX_BYTES = 64 * 1024

export const canShareStatement = ({ row, event, requestRows }: OrderInsert) =>
  requestRows?.audit.chain_id === row.team_id &&
  (row.sealed?.length ?? 0) + event.sealed.length + (requestRows.outcome?.sealed.length ?? 0) <= MAX_BYTES

/** Does what `insertOrderWithEvent` does, for several orders of a team in one transaction. */
export async function insertOrdersWithEvents(db: PipelinedDb, team_id: string, inserts: OrderInsert[]) {
  const bytes = joinCiphertexts()
  const orders = inserts.map(({ row }) => ({
    ...pickValues(row, orderColumns),
    ...{ terms: arrayText(row.terms), ...bytes.add(row.sealed as Buffer) },
  }))
  const events = inserts.map(({ row, event }) => ({ ...eventFields(row, event, row.created_at), ...bytes.add(event.sealed) }))
  const infos = inserts.flatMap(({ row, info }) =>
    info ? [{ user_id: row.user_id, updated_at: row.created_at, terms: arrayText(info.terms), ...bytes.add(info.sealed) }] : [],
  )
  const audits = inserts.flatMap(({ requestRows }) => (requestRows ? [pickValues(requestRows.audit, auditColumns)] : []))
  const outcomes = inserts.flatMap(({ requestRows }) =>
    requestRows?.outcome ? [{ ...pickValues(requestRows.outcome, openOutcomeColumns), ...bytes.add(requestRows.outcome.sealed) }] : [],
  )
  const values = [team_id, ...[orders, events, infos, audits, outcomes].map(rowSet), bytes.joined()]
  const [placed] = await runGroupWrite<Emitted>(db, placeOrders, values)
  return placed?.webhook_ids ?? []
}

const orderColumns = columns.filter((column) => !['team_id', 'sealed', 'terms'].includes(column))
const openOutcomeColumns = outcomeColumns.filter((column) => column !== 'sealed')

const eventFields = ({ id: order_id, user_id }: Pick<OrderRow, 'id' | 'user_id'>, event: NewEvent, at: string) => ({
  ...pickValues(event, ['id', 'event_type', 'key', 'partial']),
  ...{ user_id, order_id, at },
})

/** Search terms have no characters that an array would quote. */
const arrayText = (terms: string[]) => `{${terms.join(',')}}`

const updateOrdersStatement = prepareStatement('update_orders', `select update_orders(${parameterList(5)}) as webhook_ids`)

type Step = { row: OrderRow; hasNewDocument: boolean; event: NewEvent & { at: string }; status_detail: string | null }

/** Does what `updateOrder` does for a new step, for several locked orders of a team. */
export async function updateOrders(db: Db, team_id: string, steps: Step[]) {
  const bytes = joinCiphertexts()
  const orders = steps.map(({ row, hasNewDocument, status_detail }) => ({
    ...pickValues({ ...row, status_detail }, changedColumns),
    ...(hasNewDocument && row.sealed ? bytes.add(row.sealed) : {}),
  }))
  const events = steps.map(({ row, event }) => ({ ...eventFields(row, event, event.at), ...bytes.add(event.sealed) }))
  const values = [team_id, steps.map(({ row }) => row.id), rowSet(orders), rowSet(events), bytes.joined()]
  const [updated] = await runPrepared<Emitted>(db, updateOrdersStatement, values)
  return updated?.webhook_ids ?? []
}

const changedColumns = ['id', 'status_detail', ...mutable.filter((column) => column !== 'sealed')] as const
