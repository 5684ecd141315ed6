import { createHmac } from 'node:crypto'
import type { OrderedMeasurements } from '../../contract/labs/analyte.ts'
import { mediaTypeOf } from '../../contract/labs/result-documents.ts'
import type { BiomarkerResult, MissingResult, NewResults, PerformingLaboratory } from '../../contract/labs/results.ts'
import { emit } from '../../delivery/events/emit.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { Problem, problem } from '../../platform/problem.ts'
import { derive, open, seal } from '../../platform/sealing/seal.ts'
import { loadMeasurements } from '../catalog/actions.ts'
import { advanceOrder, changeOrder } from '../orders/progress/advance.ts'
import { type LoadedOrder, loadTransactionOrders, presentTransaction, requireOrder } from '../orders/reading/present.ts'
import { checkAcceptsResults, classifyReport } from '../orders/rules.ts'
import { firstEscalationAt } from './escalation.ts'
import { storeDocuments } from './lab-documents.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** One stored lab report, including results of earlier reports that this one lacks. */
export type Report = {
  status: NewResults['status']
  results: BiomarkerResult[]
  missing_results: MissingResult[]
  collected_at: string | null
  received_at: string | null
  reported_at: string
  notes: string | null
  performing_laboratories?: PerformingLaboratory[]
  /** Whether the results of each ordered marker are final, by the ID of the marker. A lab connection reports them one by one. */
  finished?: Record<string, boolean>
  /** Whether the measurements under the code of no ordered test are final, by slug. */
  performed?: Record<string, boolean>
  /** The number of the lab for the order. */
  control_number?: string
  /** The media types of the documents that this report came with. */
  document_types?: string[]
}

/** A report of the partner lab API, of the simulator, or of a lab connection, which says more. */
export type NewReport = Omit<NewResults, 'results'> & {
  results: rules.ReportedResult[]
  /** Results that the lab deleted. */
  removed?: rules.RemovedResult[]
  performing_laboratories?: PerformingLaboratory[]
  finished?: Record<string, boolean>
  performed?: Record<string, boolean>
  control_number?: string | null
  /** Documents of the lab, PDFs first. */
  documents?: Buffer[]
  /** What identifies a repeated report, if the other fields depend on earlier reports. */
  received?: unknown
}

/** Stores a lab report unless it is a repeat. A report without reported_at may restore the values of an earlier report. */
export async function recordResults(app: AppInTransaction, order: LoadedOrder, newResults: NewResults): Promise<LoadedOrder> {
  const stored = await findRepeat(app, order, newResults)
  if (stored && (newResults.reported_at || stored.version === order.result_version)) return order
  const ordered = await loadMeasurements(app, order.lab_test)
  const faults = rules.resultFaults(ordered, newResults.results)
  if (faults.length) throw new Problem('invalid', faults)
  return storeReport(app, order, newResults, ordered)
}

/** Stores the report of a lab connection unless it is a repeat of any earlier one. */
export async function recordReport(app: AppInTransaction, order: LoadedOrder, newReport: NewReport): Promise<LoadedOrder> {
  if (await findRepeat(app, order, newReport)) return order
  return storeReport(app, order, newReport, await loadMeasurements(app, order.lab_test))
}

const findRepeat = async (app: App, order: LoadedOrder, newReport: NewReport) =>
  order.result_version ? store.findByDigest(app.db, order, digestOf(order, newReport)) : undefined

const digestOf = ({ key }: LoadedOrder, newReport: NewReport) =>
  createHmac('sha256', derive(key, 'report digest'))
    .update(JSON.stringify(newReport.received ?? newReport))
    .digest()

/** Stores a new report version, advances the order and emits new critical results. A late report changes nothing. */
export async function storeReport(
  app: AppInTransaction,
  order: LoadedOrder,
  newReport: NewReport,
  ordered: OrderedMeasurements,
): Promise<LoadedOrder> {
  const status = statusOf(order, newReport)
  const step = stepOf[status]
  const withdraws = newReport.results.some((result) => result.status === 'withdrawn')
  // Webhooks receive no event of a partial report, but they must hear of a withdrawal.
  const hasNoStep = status === 'partial' && (order.method === 'testkit' || (withdraws && order.low_level === step))
  checkAcceptsResults(order)
  if (classifyReport(order, hasNoStep ? 'completed' : step) === 'late') return order
  const previous = order.result_version ? await loadLatestReport(app, order) : undefined
  const report = buildReport(order, { ...newReport, status, reported_at: newReport.reported_at ?? app.now() }, previous, ordered)
  const version = order.result_version + 1
  const interpretation = rules.interpretationOf(report.results) ?? 'unknown'
  await store.insertVersion(app.db, {
    team_id: order.team_id,
    order_id: order.id,
    version,
    status,
    interpretation,
    digest: digestOf(order, newReport),
    sealed: seal(order.key, associatedData(order.id, version), report),
    created_at: app.now(),
  })
  await storeDocuments(app, order, version, newReport.documents ?? [])
  const change = {
    result_version: version,
    interpretation,
    has_missing_results: rules.hasMissing(status, report.missing_results),
    ...(newReport.collected_at ? { collected_at: newReport.collected_at } : {}),
  }
  const updated = hasNoStep ? await changeOrder(app, order, change) : await advanceOrder(app, order, step, change)
  const critical = rules.findNewCritical(previous?.results ?? [], report.results)
  if (critical.length)
    await store.insertCriticalResult(app.db, {
      ...{ order_id: order.id, version, team_id: order.team_id, reported_at: app.now() },
      escalate_at: await firstEscalationAt(app, order.team_id),
    })
  for (const result of critical) await emitCritical(app, updated, status, result)
  if (withdraws) app.log.error({ team_id: order.team_id, order_id: order.id, version }, 'lab withdrew a result')
  return updated
}

/** Deletes the reports of a team's deleted orders. Call it after the orders are deleted, which waits for reports that are being stored. */
export const deleteOrphanedReports = ({ db }: AppInTransaction, team_id: string) => store.deleteOrphanedReports(db, team_id)

const stepOf = { partial: 'partial_results', final: 'completed', corrected: 'corrected' }

/** Gap 44: a final report on a completed order is a correction; a correction before any final report is the final report. */
function statusOf({ low_level }: LoadedOrder, { status }: Pick<NewResults, 'status'>): NewResults['status'] {
  const isFinal = ['completed', 'corrected'].includes(low_level)
  if (status === 'partial') return status
  return isFinal ? 'corrected' : 'final'
}

function buildReport(
  order: LoadedOrder,
  newReport: NewReport & { reported_at: string },
  previous: Report | undefined,
  ordered: OrderedMeasurements,
): Report {
  const patient = { gender: order.document.patient_details?.gender ?? 'unknown', sample_id: order.sample_id }
  const completed = rules.completeResults(ordered, patient, newReport)
  const kept = rules.withoutRemoved(ordered, previous?.results ?? [], newReport.removed ?? [])
  const merged = rules.mergeReports([{ results: [...kept, ...completed], missing_results: [] }])
  const results = rules.sortResults(ordered, merged.results)
  const control_number = newReport.control_number ?? previous?.control_number
  const labs = [...(previous?.performing_laboratories ?? []), ...(newReport.performing_laboratories ?? [])]
  return {
    status: newReport.status,
    results,
    missing_results: rules.missingResults(ordered, results, [...(previous?.missing_results ?? []), ...newReport.missing_results]),
    collected_at: newReport.collected_at ?? previous?.collected_at ?? null,
    received_at: newReport.received_at ?? previous?.received_at ?? null,
    reported_at: newReport.reported_at,
    notes: newReport.notes ?? previous?.notes ?? null,
    ...(labs.length ? { performing_laboratories: rules.performingLabs(results, labs) } : {}),
    ...(newReport.finished ? { finished: newReport.finished } : {}),
    ...(newReport.performed ? { performed: newReport.performed } : {}),
    ...(control_number ? { control_number } : {}),
    ...(newReport.documents?.length ? { document_types: newReport.documents.map(mediaTypeOf) } : {}),
  }
}

/** The event has its own key, so that no other event delays it. It names the marker, never the value. */
const emitCritical = (app: AppInTransaction, order: LoadedOrder, status: string, { name, slug }: BiomarkerResult) => {
  const at = app.now()
  const { id: order_id, team_id, user_id, client_user_id, sample_id, result_version, created_at } = order
  const summary = { order_id, sample_id, status: status === 'partial' ? 'partial' : 'final', interpretation: 'critical' }
  return emit(app, order.key, {
    team_id,
    user_id,
    order_id,
    client_user_id,
    event_type: 'labtest.result.critical',
    key: `critical:${order_id}`,
    data: { ...summary, team_id, user_id, result_version, created_at, updated_at: at, marker: { name, slug } },
    at,
  })
}

export const loadLatestReport = async (app: App, order: LoadedOrder): Promise<Report | undefined> =>
  order.result_version ? loadReport(app, order) : undefined

async function loadReport(app: App, order: LoadedOrder, version?: number | null): Promise<Report | undefined> {
  const row = version ? await store.findVersion(app.db, order, version) : await store.findLatestVersion(app.db, order)
  return row && open<Report>(order.key, associatedData(order.id, row.version), row.sealed)
}

const associatedData = (order_id: string, version: number) => `results.sealed.${order_id}.${version}`

export const getResults = async (app: App, { team_id }: TeamCaller, order_id: string, version?: number | null) => {
  const order = await requireOrder(app, team_id, order_id)
  return presentResults(order, await requireReport(app, order, version), version ?? order.result_version)
}

export const getResultsMetadata = async (app: App, caller: TeamCaller, order_id: string) =>
  (await getResults(app, caller, order_id)).metadata

export async function requireReport(app: App, order: LoadedOrder, version?: number | null) {
  const report = await loadReport(app, order, version)
  if (report) return report
  throw version && order.result_version ? noVersion(order.result_version) : noResults()
}

const noResults = () => problem('RESULTS_NOT_AVAILABLE', 'The order has no results yet. Wait for labtest.order.updated.')

const noVersion = (latest: number) =>
  problem('RESULTS_NOT_AVAILABLE', `The order has no report with this version. Its versions are 1 to ${latest}.`)

function presentResults(order: LoadedOrder, report: Report, result_version?: number) {
  const { document, lab_test, sample_id } = order
  const patient = document.patient_details ?? { first_name: '', last_name: '', dob: order.created_at.slice(0, 10) }
  const collected_at = report.collected_at ?? order.collected_at
  return {
    ...report,
    missing_results: rules.missingIn(report),
    metadata: {
      ...rules.metadataOf({ ...report, patient, physician: document.physician, lab: lab_test.lab, sample_id, collected_at }),
      patient_id: order.user_id,
      account_id: order.lab_account_id,
      ...(result_version ? { result_version } : {}),
    },
    sample_information: rules.sampleInformationOf({ ...report, sample_id, collected_at, fasting: lab_test.fasting }),
    documents: (report.document_types ?? []).map((media_type, i) => ({ document: i + 1, media_type })),
    order_transaction: presentTransaction(order),
  }
}

/** The reports of a transaction's orders, oldest order first. */
export async function loadTransactionReports(app: App, { team_id }: TeamCaller, transaction_id: string) {
  const reportedOrders = []
  for (const order of await loadTransactionOrders(app, team_id, transaction_id)) {
    const report = await loadLatestReport(app, order)
    if (report) reportedOrders.push({ order, report })
  }
  if (!reportedOrders.length) throw noResults()
  return reportedOrders
}

/** The newest result of each measurement, with the metadata of the latest order. */
export async function getTransactionResults(app: App, caller: TeamCaller, transaction_id: string) {
  const reportedOrders = await loadTransactionReports(app, caller, transaction_id)
  const { order, report } = reportedOrders.at(-1) as (typeof reportedOrders)[number]
  const combined = { ...report, document_types: [], ...rules.mergeReports(reportedOrders.map((entry) => entry.report)) }
  const samples = reportedOrders.map((entry) => presentResults(entry.order, entry.report).sample_information)
  const version = reportedOrders.length === 1 ? order.result_version : undefined
  return { ...presentResults(order, combined, version), sample_information: Object.assign({}, ...samples) }
}
