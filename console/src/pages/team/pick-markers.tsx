import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatMoney } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { Picker } from '../../ui/picker.tsx'
import { useDebounced } from '../../ui/search-field.tsx'

export type Marker = Awaited<ReturnType<typeof api.listMarkers>>['markers'][number]

type PickProps = { lab_slug: string; picked: Marker[]; onPick: (markers: Marker[]) => void; error?: string | undefined }

const MAX_MARKERS = 50

const formatPrice = ({ price }: Marker) => (price ? formatMoney(Number(price)) : '')

export function PickMarkers({ lab_slug, picked, onPick, error }: PickProps) {
  const [text, setText] = useState('')
  const name = useDebounced(text.trim())
  const matches = useQuery(lab_slug ? `markers:${lab_slug}?${name}` : null, () =>
    api.listMarkers({ query: { lab_slug, size: MAX_MARKERS, ...(name ? { name } : {}) } }),
  )
  const isSelectable = ({ id, is_orderable }: Marker) => is_orderable !== false && !picked.some((marker) => marker.id === id)
  return (
    <div class="stack tight">
      {picked.length > 0 && (
        <ul class="stack tight" aria-label="Selected markers">
          {picked.map((marker) => (
            <li key={marker.id} class="picked">
              <span>
                {marker.name} <code class="small muted">{marker.provider_id}</code>
              </span>
              <span class="row">
                {formatPrice(marker)}
                <Button small aria-label={`Remove ${marker.name}`} onClick={() => onPick(picked.filter(({ id }) => id !== marker.id))}>
                  Remove
                </Button>
              </span>
            </li>
          ))}
        </ul>
      )}
      <Picker
        label="Add marker"
        placeholder="Marker name"
        listLabel="Markers"
        error={error}
        text={text}
        onText={setText}
        query={{ ...matches, data: matches.data?.markers.filter(isSelectable) }}
        keyOf={({ id }) => id}
        onPick={(marker) => onPick([...picked, marker])}
      >
        {(marker) => (
          <>
            <span>
              {marker.name} <code class="small muted">{marker.provider_id}</code>
            </span>
            <span>{formatPrice(marker)}</span>
          </>
        )}
      </Picker>
    </div>
  )
}
