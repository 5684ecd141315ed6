import type { ComponentChildren } from 'preact'
import type { Query } from '../query.ts'
import { TextField } from './forms.tsx'
import { QueryView } from './table.tsx'

type PickerProps<T> = {
  label: string
  placeholder: string
  listLabel: string
  path?: string
  error?: string | undefined
  text: string
  onText: (text: string) => void
  query: Query<T[]>
  keyOf: (item: T) => string | number
  onPick: (item: T) => void
  children: (item: T) => ComponentChildren
}

export const Picker = <T,>({
  label,
  placeholder,
  listLabel,
  path,
  error,
  text,
  onText,
  query,
  keyOf,
  onPick,
  children,
}: PickerProps<T>) => (
  <div class="stack tight">
    <TextField {...{ label, placeholder, error, onText }} value={text} data-path={path} autocomplete="off" />
    <QueryView query={query} lines={3} isEmpty={(items) => !items.length} empty={<p class="small muted">No matches.</p>}>
      {(items) => (
        <ul class="results-list" aria-label={listLabel}>
          {items.map((item) => (
            <li key={keyOf(item)}>
              <button type="button" onClick={() => onPick(item)}>
                {children(item)}
              </button>
            </li>
          ))}
        </ul>
      )}
    </QueryView>
  </div>
)
