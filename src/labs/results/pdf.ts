import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import type { ReportSection } from '../documents/result-report.ts'
import { documentHeader, drawForPatient } from '../orders/reading/order-pdfs.ts'
import { type LoadedOrder, requireOrder } from '../orders/reading/present.ts'
import { loadTransactionReports, type Report, requireReport } from './actions.ts'
import * as rules from './rules.ts'

export async function resultsPdf(app: App, { team_id }: TeamCaller, order_id: string) {
  const order = await requireOrder(app, team_id, order_id)
  const report = await requireReport(app, order)
  return reportPdf(app, order, report, [{ results: report.results, missing: rules.missingIn(report) }])
}

/** One section per order, so that a reader sees the specimen of each value; only the newest value of a measurement appears. */
export async function transactionResultsPdf(app: App, caller: TeamCaller, transaction_id: string) {
  const reportedOrders = await loadTransactionReports(app, caller, transaction_id)
  const { order, report } = reportedOrders.at(-1) as (typeof reportedOrders)[number]
  const titled = reportedOrders.length > 1
  const sections = reportedOrders.map((entry, i) => ({
    title: titled ? `Order ${entry.order.id} (${entry.order.origin}), specimen ${entry.order.sample_id ?? 'unknown'}` : null,
    results: rules.resultsNotIn(
      entry.report.results,
      reportedOrders.slice(i + 1).flatMap((newer) => newer.report.results),
    ),
    missing: i === reportedOrders.length - 1 ? rules.missingIn(entry.report) : [],
  }))
  return reportPdf(app, order, report, sections)
}

const reportPdf = (
  app: App,
  order: LoadedOrder,
  report: Report,
  sections: { title?: string | null; results: Report['results']; missing: Report['missing_results'] }[],
) =>
  drawForPatient(app, order, 'resultReport', {
    ...documentHeader(order),
    created_at: report.reported_at,
    time_zone: order.zone,
    physician: order.document.physician,
    sample_id: order.sample_id,
    collected_at: report.collected_at ?? order.collected_at,
    received_at: report.received_at,
    reported_at: report.reported_at,
    status: report.status,
    interpretation: rules.interpretationOf(sections.flatMap(({ results }) => results)),
    notes: report.notes,
    // The service itself wrote these enum values before they were encrypted.
    sections: sections as ReportSection[],
  })
