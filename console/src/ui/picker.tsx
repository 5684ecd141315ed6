import type { ComponentChildren } from 'preact'
import type { Query } from '../query.ts'
import { TextField } from './forms.tsx'
import { Loaded } from './table.tsx'

type PickerProps<T> = {
  label: string
  placeholder: string
  /** What the list is called. */
  list: string
  path?: string
  wrong?: string | undefined
  text: string
  onText: (text: string) => void
  of: Query<T[]>
  keyOf: (one: T) => string | number
  onPick: (one: T) => void
  children: (one: T) => ComponentChildren
}

/** One of those that match what is typed. */
export const Picker = <T,>({ label, placeholder, list, path, wrong, text, onText, of, keyOf, onPick, children }: PickerProps<T>) => (
  <div class="stack tight">
    <TextField {...{ label, placeholder, wrong, onText }} value={text} data-path={path} autocomplete="off" />
    <Loaded of={of} lines={3} isEmpty={(all) => !all.length} empty={<p class="small muted">Nothing matches.</p>}>
      {(all) => (
        <ul class="results-list" aria-label={list}>
          {all.map((one) => (
            <li key={keyOf(one)}>
              <button type="button" onClick={() => onPick(one)}>
                {children(one)}
              </button>
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  </div>
)
