import type { z } from 'zod'
import type { OrderedMeasurements } from '../../../contract/labs/analyte.ts'
import { directions } from '../../../contract/labs/kits.ts'
import { type Simulation, SimulationFlags, type StatusDetail } from '../../../contract/labs/orders.ts'
import type { NewResults, ReportStatus } from '../../../contract/labs/results.ts'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { problem } from '../../../platform/problem.ts'
import { ageOn, later, SECOND } from '../../../platform/time.ts'
import { loadMeasurements } from '../../catalog/actions.ts'
import { sandboxCourier, sandboxScans } from '../../kits/couriers.ts'
import { recordScan } from '../../kits/scans.ts'
import { claimParcel } from '../../kits/shipments.ts'
import { registerKit } from '../../orders/placing/test-kits.ts'
import { advanceOrder } from '../../orders/progress/advance.ts'
import { clearPlannedSteps, forEachDueStep, planSteps } from '../../orders/progress/dispatch.ts'
import { offerRedraw } from '../../orders/progress/redraw.ts'
import { type LoadedOrder, lockOrder } from '../../orders/reading/present.ts'
import * as rules from '../../orders/rules.ts'
import { newSampleId } from '../../orders/sample-ids.ts'
import { storeReport } from '../../results/actions.ts'
import { simulatePatient, simulateShipment } from './people.ts'
import { simulateResults } from './values.ts'

type Flags = z.output<typeof SimulationFlags>
type Query = { final_status?: string | null | undefined; delay?: number | null | undefined }

/** Advances an order to the requested status, immediately or one step per delay. */
export const simulateOrder = (app: App, { team_id }: TeamCaller, order_id: string, query: Query, body: Flags | null | undefined) =>
  inTransaction(app, async (app) => {
    const order = await lockOrder(app, team_id, order_id)
    const flags = body ?? SimulationFlags.parse({})
    const steps = withPartials(stepsTo(order, query.final_status), flags.partials)
    // A delayed step has no caller to reject, so the redraw is checked now.
    if (steps.includes('redraw_available')) rules.checkRedraw(order)
    const delay_seconds = query.delay ?? 0
    await takeSteps(app, order, { ...flags, steps, delay_seconds })
    return 'Success'
  })

function stepsTo(order: LoadedOrder, final_status: string | null | undefined): string[] {
  if (final_status) {
    const [, method, step = ''] = final_status.split('.')
    if (method === order.method) return rules.isAt(order, step) ? [] : rules.pathTo(order, step)
    throw problem('STATUS_NOT_REACHABLE', `The collection method of the order is ${order.method}. Send a final_status of that method.`)
  }
  if (rules.isCancelled(order) || ['completed', 'corrected'].includes(order.low_level)) return []
  return rules.pathTo(order, 'completed')
}

/** Repeats the partial report as requested, if the method has one. */
function withPartials(steps: string[], partials: number | null | undefined) {
  const i = steps.indexOf('partial_results')
  if (i < 0 || typeof partials !== 'number' || i === steps.length - 1) return steps
  return [...steps.slice(0, i), ...Array.from({ length: partials }, () => 'partial_results'), ...steps.slice(i + 1)]
}

/** Takes the first step, and the others too unless they are delayed. */
async function takeSteps(app: AppInTransaction, order: LoadedOrder, { steps, ...simulation }: Simulation): Promise<void> {
  const [step, ...rest] = steps
  if (step === undefined) return
  const updated = await takeStep(app, { ...order, simulation: null }, step, { ...simulation, steps: rest })
  if (!rest.length) return
  if (!simulation.delay_seconds) return takeSteps(app, updated, { ...simulation, steps: rest })
  const step_at = later(updated.updated_at, simulation.delay_seconds * SECOND)
  await planSteps(app, updated, step_at, { ...simulation, steps: rest })
}

const reportStatuses: Record<string, ReportStatus> = {
  partial_results: 'partial',
  completed: 'final',
  corrected: 'corrected',
}

async function takeStep(app: AppInTransaction, order: LoadedOrder, step: string, simulation?: Simulation): Promise<LoadedOrder> {
  const report = reportStatuses[step]
  if (report) {
    const ordered = await loadMeasurements(app, order.lab_test)
    return storeReport(app, order, simulateReport(app, order, report, { simulation, ordered }), ordered)
  }
  if (step === 'redraw_available') return offerRedraw(app, order)
  if (step === 'registered') return registerKit(app, order, simulatePatient(order), [])
  const isLast = !simulation?.steps.length
  const change = {
    sent_at: order.sent_at ?? app.now(),
    sample_id: order.sample_id ?? newSampleId(),
    status_detail: isLast ? (simulation?.status_detail ?? defaultDetail(step)) : defaultDetail(step),
    ...(step === 'transit_customer' && !order.document.shipment ? { document: { shipment: await shipKit(app, order) } } : {}),
  }
  const scan = order.method === 'testkit' ? sandboxScans[step] : undefined
  return scan ? recordScan(app, order, scan, change) : advanceOrder(app, order, step, change)
}

/** Tracking notifications find the order by these parcels. Orders of equal seeds have equal numbers, and the first keeps them. */
async function shipKit(app: AppInTransaction, order: LoadedOrder) {
  for (const direction of directions) await claimParcel(app, order, direction, sandboxCourier.label(order, direction))
  return simulateShipment(order, app.now())
}

const defaultDetail = (step: string): StatusDetail | null =>
  ({ sample_error: 'sample_hemolyzed' as const, lab_processing_blocked: 'date_of_collection_unspecified' as const })[step] ?? null

type Basis = { simulation: Simulation | undefined; ordered: OrderedMeasurements }

/** Simulates the lab's next report. Each further partial report covers more results. */
function simulateReport(app: App, order: LoadedOrder, status: ReportStatus, { simulation, ordered }: Basis): NewResults {
  const patient = order.document.patient_details
  const now = app.now()
  const partials = order.events.filter((event) => event.low_level === 'partial_results').length
  const { results, missing_results } = simulateResults({
    ...ordered,
    seed: simulation?.seed ?? order.seed,
    gender: patient?.gender ?? 'unknown',
    age: patient ? ageOn(patient.dob, now.slice(0, 10)) : 40,
    interpretation: simulation?.interpretation ?? 'normal',
    result_types: simulation?.result_types,
    has_missing_results: simulation?.has_missing_results,
    version: status,
    share: status === 'partial' ? 1 - 0.5 ** (partials + 1) : 1,
  })
  return { status, results, missing_results, collected_at: order.collected_at ?? now, reported_at: now }
}

export const SIMULATE_STEPS = 'simulate steps'

/** Takes the steps that are due on their team's clock, of one team or of all; returns whether there may be more. */
export const takeDueSteps = (app: App, team_id?: string) =>
  forEachDueStep(app, team_id, async (app, order) => {
    const step = order.simulation?.steps[0] ?? rules.nextStep(order)
    if (step === undefined || !rules.canFollow(order, step)) return clearPlannedSteps(app, order)
    if (order.simulation) return takeSteps(app, order, order.simulation)
    await takeStep(app, order, step)
  })
