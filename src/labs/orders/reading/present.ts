import type { z } from 'zod'
import { statusOfStep, stepsOf } from '../../../contract/labs/lifecycle.ts'
import { Order } from '../../../contract/labs/orders.ts'
import { pickOf } from '../../../contract/pick.ts'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { publicUrl } from '../../../platform/config.ts'
import type { SealingKey } from '../../../platform/sealing/seal.ts'
import { teamSealingKey, unwrap } from '../../../platform/sealing/vault.ts'
import * as catalog from '../../catalog/actions.ts'
import { decryptDocument, type OrderDocument } from '../encrypted-document.ts'
import * as rules from '../rules.ts'
import * as store from '../store.ts'

/** An order with its lab test, its decrypted document and the key of that. */
type Opened<R> = Omit<R, 'key_id' | 'wrapped_key'> & { key: SealingKey; lab_test: catalog.LabTestRow; document: OrderDocument }
/** An order that a response shows. */
export type ShownOrder = Opened<store.ShownRow>
export type LoadedOrder = Opened<store.LoadedRow>

const MAX_REMEMBERED_TEAMS = 1000
/** The tests that each team read last: of one order, and of several. */
const lastTests = declareCache(() => ({ one: new Map<string, string[]>(), several: new Map<string, string[]>() }))

type Tests = Awaited<ReturnType<typeof catalog.loadLabTestsById>>
type Reading = { app: App; team_id: string; count: 'one' | 'several' }

/**
 * Loads tests with one query for any number of orders, and unwraps the key of a user once. Asks for the versions of the last tests
 * along with the orders, because the next orders often have the same tests.
 */
async function loadOpened<R extends store.ShownRow>({ app, team_id, count }: Reading, reading: Promise<R[]>): Promise<Opened<R>[]> {
  const last = lastTests(app)[count]
  const expected = app.transaction ? undefined : last.get(team_id)
  const [rows, known] = await Promise.all([reading, expected && catalog.loadLabTestsById(app, team_id, expected)])
  if (!rows.length) return []
  const teamKey = await teamSealingKey(app, team_id)
  const test_ids = [...new Set(rows.map((row) => row.lab_test_id))]
  if (last.size >= MAX_REMEMBERED_TEAMS) last.clear()
  last.set(team_id, test_ids)
  const tests: Tests = known && test_ids.every((id) => known.has(id)) ? known : await catalog.loadLabTestsById(app, team_id, test_ids)
  const keys = new Map<string, SealingKey>()
  return rows.map((row) => {
    const { user_id, key_id, wrapped_key } = row
    const key = keys.get(key_id) ?? unwrap(teamKey, { team_id, user_id }, { id: key_id, wrapped: wrapped_key })
    keys.set(key_id, key)
    const document = decryptDocument(key, row.id, row.sealed as Buffer)
    return Object.assign(row, { key, lab_test: tests.get(row.lab_test_id) as catalog.LabTestRow, document })
  })
}

/** A page of orders that are being read. */
export const loadPage = (app: App, team_id: string, reading: Promise<store.ShownRow[]>): Promise<ShownOrder[]> =>
  loadOpened({ app, team_id, count: 'several' }, reading)

/** One order for a response. */
export const loadShown = (app: App, team_id: string, id: string): Promise<ShownOrder> =>
  requireOpened(app, team_id, store.findShown(app.db, team_id, id))

export const requireOrder = (app: App, team_id: string, id: string): Promise<LoadedOrder> =>
  requireOpened(app, team_id, store.findOrder(app.db, team_id, id))

async function requireOpened<R extends store.ShownRow>(app: App, team_id: string, reading: Promise<R[]>) {
  const [order] = await loadOpened({ app, team_id, count: 'one' }, reading)
  if (!order) throw rules.orderNotFound()
  return order
}

/** Loads an order and locks it until the transaction ends. */
export async function lockOrder(app: AppInTransaction, team_id: string, id: string): Promise<LoadedOrder> {
  await store.lockOrders(app.db, team_id, [id])
  return requireOrder(app, team_id, id)
}

/** The user of an order; undefined once the user is erased. */
export const findUserOfOrder = async ({ db }: App, team_id: string, id: string) => (await store.findUserOf(db, team_id, id))?.user_id

/** Returns the orders that exist, in the order of the IDs. */
export const loadOrders = async (app: App, team_id: string, ids: string[]): Promise<LoadedOrder[]> =>
  ids.length ? loadAll(app, team_id, store.findOrders(app.db, team_id, ids)) : []

const loadAll = (app: App, team_id: string, reading: Promise<store.LoadedRow[]>): Promise<LoadedOrder[]> =>
  loadOpened({ app, team_id, count: 'several' }, reading)

/** Loads orders and locks them until the transaction ends. */
export async function lockOrders(app: AppInTransaction, team_id: string, ids: string[]): Promise<LoadedOrder[]> {
  await store.lockOrders(app.db, team_id, ids)
  return loadOrders(app, team_id, ids)
}

/** The orders of a transaction, oldest first. */
export async function loadTransactionOrders(app: App, team_id: string, transaction_id: string): Promise<LoadedOrder[]> {
  const orders = await loadAll(app, team_id, store.findByTransaction(app.db, team_id, transaction_id))
  if (!orders.length) throw rules.transactionNotFound()
  return orders
}

type OrderOut = z.output<typeof Order>

const fieldPicker = <F extends keyof OrderOut>(name: F) => pickOf(Order.shape[name]) as (value: unknown) => OrderOut[F]
/** Documents can have more fields than responses. */
const picks = {
  patient_details: fieldPicker('patient_details'),
  patient_address: fieldPicker('patient_address'),
  details: fieldPicker('details'),
  physician: fieldPicker('physician'),
  shipping_details: fieldPicker('shipping_details'),
  warnings: fieldPicker('warnings'),
}

/** An order as it appears in responses and events. Parsing it or copying its row would take most of the time of a page. */
export function presentOrder(app: App, order: ShownOrder): OrderOut {
  const { document, id, method, strict_enums, activate_by, dispatch_at, created_at, updated_at } = order
  const events = order.events.map(({ id, created_at, low_level, status_detail }) => ({
    ...{ id, created_at },
    status: statusOfStep(method, low_level),
    status_detail,
  }))
  return {
    id,
    user_id: order.user_id,
    team_id: order.team_id,
    patient_details: picks.patient_details(presentPatient(document.patient_details, strict_enums ? null : 'Not Specified')),
    patient_address: picks.patient_address(document.patient_address && { ...emptyAddressFields, ...document.patient_address }),
    lab_test: catalog.shapeLabTest(app, order.lab_test),
    details: picks.details(detailsOf(order)),
    sample_id: order.sample_id,
    notes: document.notes,
    clinical_notes: document.clinical_notes,
    created_at,
    updated_at,
    events,
    // An order has an event from its start.
    last_event: events.at(-1) as (typeof events)[number],
    status: stepsOf(method)[order.low_level]?.phase ?? null,
    physician: picks.physician(document.physician),
    health_insurance_id: order.health_insurance_id,
    requisition_form_url: hasRequisition(order) ? `${publicUrl(app.config)}/v3/order/${id}/requisition/pdf` : null,
    priority: order.priority,
    shipping_details: picks.shipping_details(document.shipping_details),
    activate_by,
    activate_at: activate_by && dispatch_at && latest(dispatch_at, updated_at),
    passthrough: document.passthrough,
    billing_type: order.billing_type,
    icd_codes: document.icd_codes,
    // Orders of earlier versions have none.
    icd_codes_by_test: document.icd_codes_by_test?.map(({ marker_ids: _, ...entry }) => entry) ?? null,
    has_abn: order.has_abn,
    interpretation: order.interpretation,
    has_missing_results: order.has_missing_results,
    expected_result_by_date: order.expected_result_by_date,
    worst_case_result_by_date: order.worst_case_result_by_date,
    origin: order.origin,
    order_transaction: presentTransaction(order),
    warnings: picks.warnings(document.warnings),
  }
}

export const presentTransaction = ({ transaction_id, siblings }: Pick<LoadedOrder, 'transaction_id' | 'siblings'>) => ({
  id: transaction_id,
  status: rules.transactionStatus(siblings),
  orders: siblings.map(({ id, low_level, last_event_at, origin, parent_id, created_at, updated_at }) => ({
    ...{ id, low_level_status: low_level, low_level_status_created_at: last_event_at },
    ...{ origin, parent_id, created_at, updated_at },
  })),
})

/** An immediate order is due in real time, which may be earlier than the team's clock. */
const latest = (a: string, b: string) => (a > b ? a : b)

const emptyAddressFields = { second_line: null, access_notes: null, phone_number: null }

/** The Junction API reports absent fields as Not Specified, which its typed clients reject, and the birth date as a date-time. */
function presentPatient(patient: OrderDocument['patient_details'], absent: 'Not Specified' | null) {
  if (!patient) return null
  return {
    household_income: null,
    household_size: null,
    ...patient,
    race: patient.race ?? absent,
    ethnicity: patient.ethnicity ?? absent,
    sexual_orientation: patient.sexual_orientation ?? absent,
    gender_identity: patient.gender_identity ?? absent,
    dob: `${patient.dob}T00:00:00+00:00`,
  }
}

/** Gap 43: the details contain the ID and times of the order. */
function detailsOf({ id, created_at, updated_at, method, appointment, document }: ShownOrder) {
  const data = { id, created_at, updated_at }
  if (method === 'testkit') return { type: method, data: { ...data, shipment: document.shipment } }
  if (method === 'on_site_collection') return { type: method, data }
  return { type: method, data: { ...data, appointment_id: appointment?.id ?? null } }
}

export const hasRequisition = ({ events }: Pick<LoadedOrder, 'events'>) => events.some((event) => event.low_level === 'requisition_created')
