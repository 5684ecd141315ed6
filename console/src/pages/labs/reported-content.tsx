import { api } from '../../api.ts'
import { shortId } from '../../format.ts'
import { Card, EmptyState } from '../../ui/basics.tsx'
import { Documents, labDocumentName } from '../../ui/documents.tsx'
import { revealHeaders } from '../../ui/reveal.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Interpretation } from './unmatched.tsx'

type Compared = Awaited<ReturnType<typeof api.compareUnmatchedResult>>

export const Values = ({ values, documents }: Pick<Compared, 'values' | 'documents'>) => (
  <Card bare title="Values in the message">
    {values.length ? (
      <Table
        label="Values in the message, critical first"
        rows={values}
        keyOf={(value) => String(values.indexOf(value))}
        columns={valueColumns}
      />
    ) : (
      <EmptyState title="No values">
        {documents.length > 0 && 'The message has documents only. Read them before you accept the result.'}
      </EmptyState>
    )}
  </Card>
)

const valueColumns: Column<Compared['values'][number]>[] = [
  { name: 'Measurement', cell: ({ name }) => name },
  {
    name: 'Value',
    cell: ({ result, unit, notes }) => (
      <>
        {result} {unit}
        {notes && <div class="small muted breaks">{notes}</div>}
      </>
    ),
  },
  { name: 'Range', wide: true, cell: ({ reference_range }) => reference_range },
  { name: 'Interpretation', cell: ({ interpretation }) => <Interpretation value={interpretation} /> },
]

type DocumentsProps = {
  raw_result_id: string
  documents: Compared['documents']
  reason: string | null
  onReveal: (reason: string) => void
}

/** The documents in the message, so that a person can read them before accepting the result. */
export function ReportedDocuments({ raw_result_id, documents, reason, onReveal }: DocumentsProps) {
  if (!documents.length) return null
  const listed = documents.map((one) => ({
    id: `lab-document-${one.document}`,
    name: labDocumentName(one),
    media_type: one.media_type,
    load: () => api.getUnmatchedDocument({ params: { raw_result_id, document: one.document }, ...revealHeaders(reason) }),
  }))
  return <Documents documents={listed} suffix={shortId(raw_result_id)} reason={reason} onReveal={onReveal} />
}
