import { createHash, randomUUID } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { groupWritesOfTeams } from '../../../platform/db/connections/writes-of-teams.ts'
import { shaped } from '../../../platform/results/shaped.ts'
import { indexTerms } from '../../../platform/sealing/blind-index.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { encryptDocument, type OrderDocument } from '../encrypted-document.ts'
import { orderEvent } from '../progress/advance.ts'
import { type LoadedOrder, presentOrder } from '../reading/present.ts'
import * as write from './store-write.ts'

type NewOrderFields = Pick<
  LoadedOrder,
  | 'team_id'
  | 'user_id'
  | 'client_user_id'
  | 'strict_enums'
  | 'key'
  | 'document'
  | 'lab_test'
  | 'lab_account_id'
  | 'method'
  | 'zone'
  | 'activate_by'
  | 'dispatch_at'
  | 'seed'
> &
  Partial<Pick<LoadedOrder, 'registrable' | 'billing_type' | 'priority' | 'has_abn' | 'health_insurance_id' | 'sample_id' | 'sent_at'>> & {
    parent?: Pick<LoadedOrder, 'id' | 'transaction_id' | 'siblings'>
    origin?: 'redraw' | 'recreation'
  }

export function newOrder({ parent, origin, ...fields }: NewOrderFields, at: string): LoadedOrder {
  const id = randomUUID()
  const transaction_id = parent?.transaction_id ?? randomUUID()
  const row = {
    ...fields,
    id,
    transaction_id,
    parent_id: parent?.id ?? null,
    origin: origin ?? 'initial',
    lab_id: fields.lab_test.lab_id,
    lab_test_id: fields.lab_test.id,
    low_level: 'ordered',
    last_event: 1,
    last_event_at: at,
    created_at: at,
    updated_at: at,
    registrable: fields.registrable ?? false,
    scheduled: fields.activate_by !== null,
    sent_at: fields.sent_at ?? null,
    step_at: null,
    simulation: null,
    sample_id: fields.sample_id ?? null,
    billing_type: fields.billing_type ?? 'client_bill',
    priority: fields.priority ?? false,
    has_abn: fields.has_abn ?? false,
    health_insurance_id: fields.health_insurance_id ?? null,
    collected_at: null,
    expected_result_by_date: null,
    worst_case_result_by_date: null,
    interpretation: null,
    has_missing_results: null,
    result_version: 0,
    sealed: encryptDocument(fields.key, id, fields.document),
    appointment: null,
    events: [{ id: 1, low_level: 'ordered', status_detail: null, created_at: at }],
  }
  return { ...row, siblings: [...(parent?.siblings ?? []), row] }
}

/** `data`: the presented order, if the caller already has it. */
type InsertOptions = {
  data?: ReturnType<typeof presentOrder>
  info?: write.OrderInsert['info']
  requestRows?: write.OrderInsert['requestRows']
}

/** Writes a new order, its first event and the outgoing event in one statement. A caller that sets the sample_id claims it first. */
export async function insertOrder(app: App, order: LoadedOrder, { data, info, requestRows }: InsertOptions = {}) {
  const terms = await searchTermsOf(app, order.team_id, order.document)
  const event = orderEvent(app, order, 'labtest.order.created', order.created_at, { data })
  await writeOrder(app, order.team_id, { row: { ...order, terms }, event, info, requestRows })
  return order
}

/** Orders of a team that arrive together share a statement. */
const writeOrder = groupWritesOfTeams<write.OrderInsert, void>({
  async write(app, team_id, inserts) {
    await write.insertOrders(app.db, team_id, inserts)
    app.wake('team log', team_id)
  },
  bytesOf: ({ row, event, requestRows }) => (row.sealed?.length ?? 0) + event.sealed.length + (requestRows?.outcome?.sealed.length ?? 0),
})

/** Search terms: the names of the patient and of the recipient, kept apart. */
export async function searchTermsOf(
  app: App,
  team_id: string,
  { patient_details: patient, shipping_details, patient_address }: OrderDocument,
) {
  const team = await teamSealingKey(app, team_id)
  const recipients = [shipping_details?.receiver_name, patient_address?.receiver_name].filter((name) => name !== undefined)
  return [
    ...(patient ? indexTerms(team, [patient.first_name, patient.last_name], 'patient') : []),
    ...indexTerms(team, recipients, 'recipient'),
  ]
}

/** The seed makes simulations reproducible. It is a hash, so that the client_user_id does not stay in the row. */
export const seedOf = ({ client_user_id, orders }: { client_user_id: string; orders: number }, test: string) =>
  createHash('sha256').update(`${client_user_id}/${test}/${orders}`).digest('base64url').slice(0, 22)

export const orderReply = (app: App, order: LoadedOrder, message: string) =>
  shaped({
    order: presentOrder(app, order),
    status: 'success',
    message,
  })
