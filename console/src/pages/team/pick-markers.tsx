import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Button } from '../../ui/basics.tsx'
import { usePaused } from '../../ui/find.tsx'
import { Picker } from '../../ui/picker.tsx'
import { money } from '../../words.ts'

export type Marker = Awaited<ReturnType<typeof api.listMarkers>>['markers'][number]

type PickProps = { lab_slug: string; picked: Marker[]; onPick: (markers: Marker[]) => void; wrong?: string | undefined }

const SHOWN = 50

export const priceOf = ({ price }: Marker) => (price ? money(Number(price)) : '')

/** Markers of one lab, found by a part of their name; those that were picked stay above. */
export function PickMarkers({ lab_slug, picked, onPick, wrong }: PickProps) {
  const [text, setText] = useState('')
  const name = usePaused(text.trim())
  const found = useQuery(lab_slug ? `markers:${lab_slug}?${name}` : null, () =>
    api.listMarkers({ query: { lab_slug, size: SHOWN, ...(name ? { name } : {}) } }),
  )
  const isFree = ({ id, is_orderable }: Marker) => is_orderable !== false && !picked.some((one) => one.id === id)
  return (
    <div class="stack tight">
      {picked.length > 0 && (
        <ul class="stack tight" aria-label="Picked markers">
          {picked.map((one) => (
            <li key={one.id} class="picked">
              <span>
                {one.name} <code class="small muted">{one.provider_id}</code>
              </span>
              <span class="row">
                {priceOf(one)}
                <Button small aria-label={`Remove ${one.name}`} onClick={() => onPick(picked.filter(({ id }) => id !== one.id))}>
                  Remove
                </Button>
              </span>
            </li>
          ))}
        </ul>
      )}
      <Picker
        label="Add a marker"
        placeholder="Part of its name"
        list="Markers"
        wrong={wrong}
        text={text}
        onText={setText}
        of={{ ...found, data: found.data?.markers.filter(isFree) }}
        keyOf={({ id }) => id}
        onPick={(one) => onPick([...picked, one])}
      >
        {(one) => (
          <>
            <span>
              {one.name} <code class="small muted">{one.provider_id}</code>
            </span>
            <span>{priceOf(one)}</span>
          </>
        )}
      </Picker>
    </div>
  )
}
