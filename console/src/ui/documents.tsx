import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../api.ts'
import { Card, Notice, Skeleton } from './basics.tsx'
import { RevealDialog } from './reveal.tsx'

export type PersonalDocument = { id: string; name: string; media_type: string; load: () => Promise<Uint8Array> }

export const PDF = 'application/pdf'

const extensions: Record<string, string> = {
  [PDF]: 'pdf',
  'application/rtf': 'rtf',
  'image/tiff': 'tiff',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'text/plain': 'txt',
}

const extensionOf = (media_type: string) => extensions[media_type.split(';')[0] ?? ''] ?? 'bin'

/** A document of a lab by its number and format. */
export const labDocumentName = ({ document, media_type }: { document: number; media_type: string }) =>
  `Lab document ${document} (${extensionOf(media_type).toUpperCase()})`

type DocumentsProps = {
  documents: PersonalDocument[]
  /** The end of the names of downloads. */
  suffix: string
  reason: string | null
  onReveal: (reason: string) => void
}

/** Documents name the patient, so opening one needs a reason. A document stays in this page's memory only. */
export function Documents({ documents, suffix, reason, onReveal }: DocumentsProps) {
  const [selectedId, setSelectedId] = useState<string>()
  const selected = documents.find(({ id }) => id === selectedId)
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
        {!selected && <p class="muted">Select a document. Opening it reveals personal data, and the audit log records it.</p>}
        {selected && reason && <DocumentViewer key={selected.id} document={selected} suffix={suffix} />}
      </div>
      {selected && !reason && <RevealDialog onClose={() => setSelectedId(undefined)} onReason={onReveal} />}
    </Card>
  )
}

/** Shows a PDF. Documents in other formats are downloaded. */
function DocumentViewer({ document: { id, name, media_type, load }, suffix }: { document: PersonalDocument; suffix: string }) {
  const [url, setUrl] = useState<string>()
  const [error, setError] = useState<ApiError>()
  useEffect(() => {
    let objectUrl: string | undefined
    let isMounted = true
    load().then((bytes) => {
      // A document that arrives after the viewer closed would stay in memory until the window closes.
      if (!isMounted) return
      // Blob does not accept bytes in shared memory, so this copies them.
      objectUrl = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type: media_type }))
      setUrl(objectUrl)
    }, setError)
    return () => {
      isMounted = false
      if (objectUrl) URL.revokeObjectURL(objectUrl)
    }
  }, [id])
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (!url) return <Skeleton lines={6} />
  return (
    <div class="stack tight">
      <div class="row wrap">
        {media_type === PDF && (
          <a class="button" href={url} target="_blank" rel="noreferrer">
            Open in new tab
          </a>
        )}
        <a class="button" href={url} download={`${id}-${suffix}.${extensionOf(media_type)}`}>
          Download
        </a>
      </div>
      {media_type === PDF && <iframe class="pdf" title={name} src={url} />}
    </div>
  )
}
