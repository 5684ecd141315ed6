import { useEffect, useState } from 'preact/hooks'
import { api, type Failure } from '../../api.ts'
import { teamNow } from '../../clock.ts'
import { Card, Notice, Skeleton } from '../../ui/basics.tsx'
import { AskReason, revealing } from '../../ui/reveal.tsx'
import type { Order } from './list.tsx'

type Paper = { id: string; name: string; load: () => Promise<Uint8Array> }

function papersOf(order: Order, reason: string | null): Paper[] {
  const sent = { params: { order_id: order.id }, ...revealing(reason) }
  const hasReport = /\.(partial_results|completed|corrected)$/.test(order.last_event.status)
  return [
    ...(hasReport ? [{ id: 'report', name: 'Result report', load: () => api.getResultsPdf(sent) }] : []),
    { id: 'requisition', name: 'Requisition', load: () => api.getRequisitionPdf(sent) },
    {
      id: 'labels',
      name: 'Tube labels',
      load: () => api.getLabelsPdf({ ...sent, query: { collection_date: new Date(teamNow()).toISOString().slice(0, 10) } }),
    },
    ...(order.lab_test.has_collection_instructions
      ? [{ id: 'instructions', name: 'Collection instructions', load: () => api.getCollectionInstructionPdf(sent) }]
      : []),
    ...(order.has_abn ? [{ id: 'abn', name: 'Beneficiary notice', load: () => api.getAbnPdf(sent) }] : []),
  ]
}

type DocumentsProps = { order: Order; reason: string | null; onReveal: (reason: string) => void }

/** Papers name the patient, so they need a reason. They are made anew when they are opened and live in this page's memory only. */
export function Documents({ order, reason, onReveal }: DocumentsProps) {
  const papers = papersOf(order, reason)
  const [open, setOpen] = useState<string>()
  const paper = papers.find(({ id }) => id === open)
  return (
    <Card title="Documents">
      <div class="stack">
        <div class="chips" role="group" aria-label="Document">
          {papers.map(({ id, name }) => (
            <button key={id} type="button" class="chip" aria-pressed={id === open} onClick={() => setOpen(id)}>
              {name}
            </button>
          ))}
        </div>
        {!paper && <p class="muted">Choose a document. Opening one shows personal data and is audited.</p>}
        {paper && reason && <Shown key={paper.id} paper={paper} order_id={order.id} />}
      </div>
      {paper && !reason && <AskReason onClose={() => setOpen(undefined)} onReason={onReveal} />}
    </Card>
  )
}

function Shown({ paper, order_id }: { paper: Paper; order_id: string }) {
  const [url, setUrl] = useState<string>()
  const [error, setError] = useState<Failure>()
  useEffect(() => {
    let made: string | undefined
    let current = true
    paper.load().then((bytes) => {
      // What comes after the page was left would stay in its memory for as long as the window is open.
      if (!current) return
      // A copy, since the bytes of an answer may lie in shared memory.
      made = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: 'application/pdf' }))
      setUrl(made)
    }, setError)
    return () => {
      current = false
      if (made) URL.revokeObjectURL(made)
    }
  }, [paper.id])
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!url) return <Skeleton lines={6} />
  return (
    <div class="stack tight">
      <div class="row wrap">
        <a class="button" href={url} target="_blank" rel="noreferrer">
          Open in a tab
        </a>
        <a class="button" href={url} download={`${paper.id}-${order_id.slice(0, 8)}.pdf`}>
          Download
        </a>
      </div>
      <iframe class="pdf" title={paper.name} src={url} />
    </div>
  )
}
