import { useEffect, useState } from 'preact/hooks'
import { type ApiError, api } from '../../api.ts'
import { teamNow } from '../../clock.ts'
import { shortId } from '../../format.ts'
import { Card, Notice, Skeleton } from '../../ui/basics.tsx'
import { RevealDialog, revealHeaders } from '../../ui/reveal.tsx'
import type { Order } from './list.tsx'
import { hasResults } from './status.tsx'

type OrderDocument = { id: string; name: string; load: () => Promise<Uint8Array> }

function documentsOf(order: Order, reason: string | null): OrderDocument[] {
  const input = { params: { order_id: order.id }, ...revealHeaders(reason) }
  return [
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
}

type DocumentsProps = { order: Order; reason: string | null; onReveal: (reason: string) => void }

/** Documents name the patient, so opening one needs a reason. The PDF stays in this page's memory only. */
export function Documents({ order, reason, onReveal }: DocumentsProps) {
  const documents = documentsOf(order, reason)
  const [selectedId, setSelectedId] = useState<string>()
  const document = documents.find(({ id }) => id === selectedId)
  return (
    <Card title="Documents">
      <div class="stack">
        <div class="chips" role="group" aria-label="Document">
          {documents.map(({ id, name }) => (
            <button key={id} type="button" class="chip" aria-pressed={id === selectedId} onClick={() => setSelectedId(id)}>
              {name}
            </button>
          ))}
        </div>
        {!document && <p class="muted">Select a document. Opening it reveals personal data, and the audit log records it.</p>}
        {document && reason && <PdfViewer key={document.id} document={document} order_id={order.id} />}
      </div>
      {document && !reason && <RevealDialog onClose={() => setSelectedId(undefined)} onReason={onReveal} />}
    </Card>
  )
}

function PdfViewer({ document, order_id }: { document: OrderDocument; order_id: string }) {
  const [url, setUrl] = useState<string>()
  const [error, setError] = useState<ApiError>()
  useEffect(() => {
    let objectUrl: string | undefined
    let isMounted = true
    document.load().then((bytes) => {
      // A PDF that arrives after the viewer closed would stay in memory until the window closes.
      if (!isMounted) return
      // Blob does not accept bytes in shared memory, so this copies them.
      objectUrl = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: 'application/pdf' }))
      setUrl(objectUrl)
    }, setError)
    return () => {
      isMounted = false
      if (objectUrl) URL.revokeObjectURL(objectUrl)
    }
  }, [document.id])
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!url) return <Skeleton lines={6} />
  return (
    <div class="stack tight">
      <div class="row wrap">
        <a class="button" href={url} target="_blank" rel="noreferrer">
          Open in new tab
        </a>
        <a class="button" href={url} download={`${document.id}-${shortId(order_id)}.pdf`}>
          Download
        </a>
      </div>
      <iframe class="pdf" title={document.name} src={url} />
    </div>
  )
}
