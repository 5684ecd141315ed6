import type { z } from 'zod'
import type { LabOrderFilter, StepReport } from '../../../contract/labs/partner-api.ts'
import type { NewResults } from '../../../contract/labs/results.ts'
import { type App, type AppInTransaction, inTransaction, onTeamClock } from '../../../platform/app.ts'
import type { LabCaller } from '../../../platform/callers.ts'
import { cursorAt, pageAfter, pageOf } from '../../../platform/paging.ts'
import { problem } from '../../../platform/problem.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { later, SECOND } from '../../../platform/time.ts'
import { reappears } from '../../kits/rules.ts'
import { continueKit } from '../../kits/scans.ts'
import { claimReportedParcels, mergeShipment } from '../../kits/shipments.ts'
import { diagnosesOf } from '../../orders/checks/rules-diagnoses.ts'
import { transmissionName } from '../../orders/checks/rules-people.ts'
import { advanceOrder } from '../../orders/progress/advance.ts'
import { offerRedraw, recreateOrder } from '../../orders/progress/redraw.ts'
import { type LoadedOrder, loadOrders, lockOrder, requireOrder } from '../../orders/reading/present.ts'
import * as rules from '../../orders/rules.ts'
import { recordResults } from '../../results/actions.ts'
import * as store from './store.ts'

type Filter = z.output<typeof LabOrderFilter>
type Step = z.output<typeof StepReport>

/** Changes can commit out of order. The list leaves out the last two seconds, so that a lab that follows its cursor misses none. */
const SETTLE_MS = 2 * SECOND

/** The orders that were sent to the lab, in the order of their last change. */
export async function listLabOrders(app: App, { lab_id }: LabCaller, query: Filter) {
  const page = pageAfter(query.next_cursor, query.limit)
  const until = later(app.wall(), -SETTLE_MS)
  const found = await store.listSentOrders(app.db, lab_id, { ...query, until }, page)
  const { rows } = pageOf(found, page, positionOf)
  const last = rows.at(-1)
  const orders = await loadInOrder(app, rows)
  // The last page has a cursor too, so that a lab can continue from it later.
  return {
    orders: orders.map(presentLabOrder),
    next_cursor: last ? cursorAt(positionOf(last)) : (query.next_cursor ?? initialCursor(query, until)),
  }
}

/** The cursor of an empty list; a search for one specimen has none. */
const initialCursor = ({ sample_id }: Filter, at: string) =>
  sample_id ? null : cursorAt({ at, id: '00000000-0000-0000-0000-000000000000' })

const positionOf = (order: { changed_at: string; id: string }) => ({ at: order.changed_at, id: order.id })

/** One query per team. Orders of users erased in the meantime are left out. */
async function loadInOrder(app: App, rows: { team_id: string; id: string }[]): Promise<LoadedOrder[]> {
  const byTeam = Map.groupBy(rows, ({ team_id }) => team_id)
  const loaded = new Map<string, LoadedOrder>()
  for (const [team_id, rowsOfTeam] of byTeam)
    for (const order of await loadOrders(
      app,
      team_id,
      rowsOfTeam.map(({ id }) => id),
    ))
      loaded.set(order.id, order)
  return rows.flatMap(({ id }) => loaded.get(id) ?? [])
}

export async function getLabOrder(app: App, { lab_id }: LabCaller, id: string) {
  const { team_id } = await requireSentOrder(app, lab_id, id)
  return presentLabOrder(await requireOrder(app, team_id, id))
}

/** Records a step that the lab or its courier reports. A late or repeated report changes nothing. */
export const reportStep = (app: App, caller: LabCaller, id: string, step: Step) =>
  withOrder(app, caller, id, async (app, order) => {
    if (reappears(order, step.status)) return continueKit(app, order, step.status)
    const changes = changesIn(order, step, app.now())
    // A repeated step is a retry unless it carries new data.
    const isRepeat = step.status === order.low_level && !Object.keys(changes).length
    if (isRepeat || rules.classifyReport(order, step.status) === 'late') return order
    if (changes.document) await claimReportedParcels(app, order, changes.document.shipment)
    const change = { ...changes, status_detail: step.status_detail ?? null }
    return step.status === 'redraw_available' ? offerRedraw(app, order, change) : advanceOrder(app, order, step.status, change)
  })

/** The new sample_id, collected_at and shipment of a report. */
const changesIn = (order: LoadedOrder, { sample_id, collected_at, shipment }: Step, now: string) => ({
  ...(sample_id && sample_id !== order.sample_id ? { sample_id } : {}),
  ...(collected_at && collected_at !== order.collected_at ? { collected_at } : {}),
  ...(shipment ? { document: { shipment: mergeShipment(order, shipment, now) } } : {}),
})

export const reportResults = (app: App, caller: LabCaller, id: string, newResults: NewResults) =>
  withOrder(app, caller, id, (app, order) => recordResults(app, order, newResults))

/** Results arrived for an order that ended, so a new order of its transaction accepts them. */
export const recreate = (app: App, caller: LabCaller, id: string) => withOrder(app, caller, id, recreateOrder)

async function withOrder(
  app: App,
  { lab_id }: LabCaller,
  id: string,
  work: (app: AppInTransaction, order: LoadedOrder) => Promise<LoadedOrder>,
) {
  const { team_id, clock_offset_ms } = await requireSentOrder(app, lab_id, id)
  // The transaction would read it each time.
  await teamSealingKey(app, team_id)
  return inTransaction(onTeamClock(app, { clock_offset_ms }), async (app) =>
    presentLabOrder(await work(app, await lockOrder(app, team_id, id))),
  )
}

async function requireSentOrder(app: App, lab_id: number, id: string) {
  const order = await store.findSentOrder(app.db, lab_id, id)
  if (!order) throw problem('ORDER_NOT_FOUND', 'The lab has received no order with this ID. List the orders with GET /lab/v1/orders.')
  return order
}

/** The order for the lab: names in the lab's charset, without the customer's internal fields. */
function presentLabOrder({ document, lab_test, ...order }: LoadedOrder) {
  const { lab } = lab_test
  const patient = document.patient_details
  return {
    ...order,
    status: order.low_level,
    patient_details: patient && {
      ...patient,
      first_name: transmissionName(patient.first_name, lab, 'first_name'),
      last_name: transmissionName(patient.last_name, lab, 'last_name'),
    },
    patient_address: document.patient_address,
    shipping_details: document.shipping_details,
    shipment: document.shipment,
    physician: document.physician,
    icd_codes: document.icd_codes,
    clinical_notes: document.clinical_notes,
    aoe_answers: document.aoe_answers,
    lab_test: { id: lab_test.id, name: lab_test.name, sample_type: lab_test.sample_type, fasting: lab_test.fasting },
    markers: lab_test.markers.map(({ id, name, provider_id, loinc }) => ({
      ...{ id, name, provider_id, loinc },
      icd_codes: diagnosesOf(document, id),
    })),
  }
}
