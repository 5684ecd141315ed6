import { isPdf } from '../../contract/labs/result-documents.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import type { ReportSection } from '../documents/result-report.ts'
import { documentHeader, drawForPatient } from '../orders/reading/order-pdfs.ts'
import { type LoadedOrder, requireOrder } from '../orders/reading/present.ts'
import { loadTransactionReports, type Report, requireReport } from './actions.ts'
import { loadDocument } from './lab-documents.ts'
import * as rules from './rules.ts'

type DocumentKey = { order_id: string; document: number }
type Query = { version?: number | null | undefined; document?: number | null | undefined }

/** The PDF that the report came with; without one, Assay draws it. A report without a PDF does not show that of an earlier report. */
export async function resultsPdf(app: App, { team_id }: TeamCaller, order_id: string, { version, document }: Query) {
  const order = await requireOrder(app, team_id, order_id)
  const report = await requireReport(app, order, version)
  const bytes = document === 0 ? undefined : await loadDocument(app, order, version ?? order.result_version, document ?? 1)
  if (bytes && isPdf(bytes)) return { user_id: order.user_id, bytes }
  if (document)
    throw problem('DOCUMENT_NOT_AVAILABLE', 'The report came with fewer PDFs. Send document=0 for the PDF that Assay generates.')
  return reportPdf(app, order, report, [{ results: report.results, missing: rules.missingIn(report) }])
}

/** A document of the lab report, in any format. */
export async function resultDocument(app: App, { team_id }: TeamCaller, { order_id, document }: DocumentKey, version?: number | null) {
  const order = await requireOrder(app, team_id, order_id)
  await requireReport(app, order, version)
  const bytes = await loadDocument(app, order, version ?? order.result_version, document)
  if (!bytes) throw problem('DOCUMENT_NOT_AVAILABLE', 'The report has no document with this number. The result lists its `documents`.')
  return { user_id: order.user_id, bytes }
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
    performing_laboratories: report.performing_laboratories ?? [],
    // The service itself wrote these enum values before they were encrypted.
    sections: sections as ReportSection[],
  })
