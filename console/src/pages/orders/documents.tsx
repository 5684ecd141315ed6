import { api } from '../../api.ts'
import { teamNow } from '../../clock.ts'
import { shortId } from '../../format.ts'
import { Documents, labDocumentName, PDF, type PersonalDocument } from '../../ui/documents.tsx'
import { revealHeaders } from '../../ui/reveal.tsx'
import { ErrorNotice } from '../../ui/table.tsx'
import type { Order } from './list.tsx'
import { type OrderResults, useResults } from './results.tsx'
import { hasResults } from './status.tsx'

function documentsOf(order: Order, reason: string | null): PersonalDocument[] {
  const input = { params: { order_id: order.id }, ...revealHeaders(reason) }
  const pdfs = [
    ...(hasResults(order) ? [{ id: 'report', name: 'Result report', load: () => api.getResultsPdf(input) }] : []),
    { id: 'requisition', name: 'Requisition', load: () => api.getRequisitionPdf(input) },
    {
      id: 'labels',
      name: 'Specimen labels',
      load: () => api.getLabelsPdf({ ...input, query: { collection_date: new Date(teamNow()).toISOString().slice(0, 10) } }),
    },
    ...(order.lab_test.has_collection_instructions
      ? [{ id: 'instructions', name: 'Collection instructions', load: () => api.getCollectionInstructionPdf(input) }]
      : []),
    ...(order.has_abn ? [{ id: 'abn', name: 'Advance beneficiary notice', load: () => api.getAbnPdf(input) }] : []),
  ]
  return pdfs.map((pdf) => ({ ...pdf, media_type: PDF }))
}

/** The first PDF of the lab is the result report, so it is not listed again. */
const labDocumentsOf = ({ documents, metadata }: OrderResults, order_id: string, reason: string | null): PersonalDocument[] =>
  (documents ?? [])
    .filter(({ document, media_type }) => document > 1 || media_type !== PDF)
    .map((one) => ({
      id: `lab-document-${metadata.result_version}-${one.document}`,
      name: labDocumentName(one),
      media_type: one.media_type,
      load: () =>
        api.getResultDocument({
          params: { order_id, document: one.document },
          query: { version: metadata.result_version },
          ...revealHeaders(reason),
        }),
    }))

type DocumentsProps = { order: Order; reason: string | null; onReveal: (reason: string) => void }

export function OrderDocuments({ order, reason, onReveal }: DocumentsProps) {
  const { data, error, reload } = useResults(order)
  const labDocuments = data ? labDocumentsOf(data, order.id, reason) : []
  return (
    <>
      {error && <ErrorNotice error={error} onRetry={reload} />}
      <Documents
        documents={[...documentsOf(order, reason), ...labDocuments]}
        suffix={shortId(order.id)}
        reason={reason}
        onReveal={onReveal}
      />
    </>
  )
}
