import { z } from 'zod'
import type { LabTest } from '../../../contract/labs/catalog.ts'
import { statusOfStep, stepsOf } from '../../../contract/labs/lifecycle.ts'
import { Order } from '../../../contract/labs/orders.ts'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { publicUrl } from '../../../platform/config.ts'
import type { SealingKey } from '../../../platform/sealing/seal.ts'
import { teamSealingKey, unwrap } from '../../../platform/sealing/vault.ts'
import * as catalog from '../../catalog/actions.ts'
import { decryptDocument, type OrderDocument } from '../encrypted-document.ts'
import * as rules from '../rules.ts'
import * as store from '../store.ts'

/** An order with its decrypted document and lab test. */
export type LoadedOrder = Omit<store.LoadedRow, 'key_id' | 'wrapped_key'> & {
  document: OrderDocument
  key: SealingKey
  lab_test: catalog.LabTestRow
}

const MAX_REMEMBERED_TEAMS = 1000
/** The test of the order that each team read last. */
const lastTests = declareCache(() => new Map<string, string>())

/** Asks for the version of the test along with the order, because the next order often has the same test. */
export async function requireOrder(app: App, team_id: string, id: string): Promise<LoadedOrder> {
  const last = lastTests(app)
  const test_id = app.transaction ? undefined : last.get(team_id)
  const [row, tests] = await Promise.all([
    store.findOrder(app.db, team_id, id),
    test_id === undefined ? undefined : catalog.loadLabTestsById(app, team_id, [test_id]),
  ])
  if (!row) throw rules.orderNotFound()
  if (last.size >= MAX_REMEMBERED_TEAMS) last.clear()
  last.set(team_id, row.lab_test_id)
  const [loaded] = await loadAll(app, team_id, [row], tests)
  return loaded as LoadedOrder
}

/** Loads an order and locks it until the transaction ends. */
export async function lockOrder(app: AppInTransaction, team_id: string, id: string): Promise<LoadedOrder> {
  await store.lockOrders(app.db, team_id, [id])
  return requireOrder(app, team_id, id)
}

/** The user of an order; undefined once the user is erased. */
export const findUserOfOrder = async ({ db }: App, team_id: string, id: string) => (await store.findUserOf(db, team_id, id))?.user_id

/** Returns the orders that exist, in the order of the IDs. A caller that knows their tests saves a round trip. */
export async function loadOrders(app: App, team_id: string, ids: string[], test_ids?: string[]): Promise<LoadedOrder[]> {
  if (!ids.length) return []
  const [rows, tests] = await Promise.all([
    store.findOrders(app.db, team_id, ids),
    test_ids && catalog.loadLabTestsById(app, team_id, test_ids),
  ])
  return loadAll(app, team_id, rows, tests)
}

/** Loads orders and locks them until the transaction ends. */
export async function lockOrders(app: AppInTransaction, team_id: string, ids: string[]): Promise<LoadedOrder[]> {
  await store.lockOrders(app.db, team_id, ids)
  return loadOrders(app, team_id, ids)
}

/** The orders of a transaction, oldest first. */
export async function loadTransactionOrders(app: App, team_id: string, transaction_id: string): Promise<LoadedOrder[]> {
  const rows = await store.findByTransaction(app.db, team_id, transaction_id)
  if (!rows.length) throw rules.transactionNotFound()
  return loadAll(app, team_id, rows)
}

type Tests = Awaited<ReturnType<typeof catalog.loadLabTestsById>>

/** Loads tests with one query for any number of orders, and unwraps the key of a user once. */
async function loadAll(app: App, team_id: string, rows: store.LoadedRow[], known?: Tests): Promise<LoadedOrder[]> {
  if (!rows.length) return []
  const teamKey = await teamSealingKey(app, team_id)
  const isKnown = known && rows.every((row) => known.has(row.lab_test_id))
  const tests = isKnown ? known : await catalog.loadLabTestsById(app, team_id, [...new Set(rows.map((row) => row.lab_test_id))])
  const keys = new Map<string, SealingKey>()
  return rows.map(({ key_id, wrapped_key, ...row }) => {
    const key = keys.get(key_id) ?? unwrap(teamKey, { team_id, user_id: row.user_id }, { id: key_id, wrapped: wrapped_key })
    keys.set(key_id, key)
    return {
      ...row,
      key,
      document: decryptDocument(key, row.id, row.sealed as Buffer),
      lab_test: tests.get(row.lab_test_id) as catalog.LabTestRow,
    }
  })
}

/** The lab test is shaped apart, because orders of the same test share it. */
const OrderFields = Order.extend({ lab_test: z.custom<z.output<typeof LabTest>>() })

/** The order as it appears in responses and events. */
export function presentOrder(app: App, order: LoadedOrder) {
  const { document, lab_test, ...row } = order
  const events = row.events.map((event) => ({ ...event, status: statusOfStep(row.method, event.low_level) }))
  return OrderFields.parse({
    ...row,
    ...document,
    patient_details: presentPatient(document.patient_details, row.strict_enums ? null : 'Not Specified'),
    patient_address: document.patient_address && { ...emptyAddressFields, ...document.patient_address },
    lab_test: catalog.shapeLabTest(app, lab_test),
    details: detailsOf(order),
    events,
    last_event: events.at(-1),
    status: stepsOf(row.method)[row.low_level]?.phase ?? null,
    requisition_form_url: hasRequisition(order) ? `${publicUrl(app.config)}/v3/order/${row.id}/requisition/pdf` : null,
    activate_at: row.activate_by && row.dispatch_at && latest(row.dispatch_at, row.updated_at),
    order_transaction: presentTransaction(order),
  })
}

export const presentTransaction = ({ transaction_id, siblings }: LoadedOrder) => ({
  id: transaction_id,
  status: rules.transactionStatus(siblings),
  orders: siblings.map(({ id, low_level, last_event_at, origin, parent_id, created_at, updated_at }) => ({
    ...{ id, low_level_status: low_level, low_level_status_created_at: last_event_at },
    ...{ origin, parent_id, created_at, updated_at },
  })),
})

/** An immediate order is due in real time, which may be earlier than the team's clock. */
const latest = (a: string, b: string) => (a > b ? a : b)

const optionalFields = ['race', 'ethnicity', 'sexual_orientation', 'gender_identity'] as const

const emptyAddressFields = { second_line: null, access_notes: null, phone_number: null }

/** The Junction API reports absent fields as Not Specified, which its typed clients reject, and the birth date as a date-time. */
function presentPatient(patient: OrderDocument['patient_details'], absent: 'Not Specified' | null) {
  if (!patient) return null
  const specified = Object.fromEntries(optionalFields.map((name) => [name, patient[name] ?? absent]))
  return { household_income: null, household_size: null, ...patient, ...specified, dob: `${patient.dob}T00:00:00+00:00` }
}

/** Gap 43: the details contain the ID and times of the order. */
function detailsOf({ id, created_at, updated_at, method, document, appointment }: LoadedOrder) {
  const data = { id, created_at, updated_at }
  if (method === 'testkit') return { type: method, data: { ...data, shipment: document.shipment } }
  if (method === 'on_site_collection') return { type: method, data }
  return { type: method, data: { ...data, appointment_id: appointment?.id ?? null } }
}

export const hasRequisition = ({ events }: Pick<LoadedOrder, 'events'>) => events.some((event) => event.low_level === 'requisition_created')
