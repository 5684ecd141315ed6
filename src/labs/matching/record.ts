import { isPdf } from '../../contract/labs/result-documents.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { loadMeasurements } from '../catalog/actions.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import { keepFillers } from '../orders/samples.ts'
import { loadLatestReport, recordReport } from '../results/actions.ts'
import { isComment } from './rules-groups.ts'
import { stateOf } from './rules-match.ts'
import { fingerprintOf, type OrderResults, reportOf } from './rules-report.ts'

/** Stores results on an order that agrees, or that a person chose. Late results store nothing. */
export async function recordOn(app: AppInTransaction, order: LoadedOrder, received: OrderResults, isDone = false) {
  await keepFillers(
    app,
    order,
    received.groups.map(({ filler_number }) => filler_number),
  )
  const { unknown_tests, finishes, ...report } = await newReport(app, order, received, isDone)
  const comments = received.groups.filter(isComment)
  const contents = [report.results, report.missing_results, report.removed, report.documents, comments]
  const isNews = finishes || contents.some((list) => list.length)
  return { order: isNews ? await recordReport(app, order, report) : order, hasUnknownTests: unknown_tests.length > 0 }
}

async function newReport(app: App, order: LoadedOrder, received: OrderResults, isDone: boolean) {
  const isComplete = stateOf(order) === 'completed'
  const context = {
    ordered: await loadMeasurements(app, order.lab_test),
    isComplete,
    isDone,
    previous: await loadLatestReport(app, order),
  }
  // A number asked for as a PDF names a PDF, whatever else the report came with.
  const documents = received.groups
    .flatMap(({ documents }) => documents.map(({ bytes }) => bytes))
    .sort((one, other) => Number(isPdf(other)) - Number(isPdf(one)))
  const fingerprint = fingerprintOf(received)
  // The report that a person completes the order with is not a repeat of the one before.
  return { ...reportOf(received, context), documents, received: isDone && !isComplete ? { ...fingerprint, isDone } : fingerprint }
}
