import { useState } from 'preact/hooks'
import { useModal } from './modal.ts'

export type Found = { name: string; hint: string; choose: () => void }

type ChooserProps = { label: string; placeholder: string; find: (text: string) => Found[]; onClose: () => void }

/** One of many, found by typing. */
export function Chooser({ label, placeholder, find, onClose }: ChooserProps) {
  const ref = useModal()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const found = find(text)
  const choose = (one: Found | undefined) => {
    if (!one) return
    onClose()
    one.choose()
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') {
      // Whatever gets the focus back must not be pressed by the same key.
      event.preventDefault()
      return choose(found[at])
    }
    if (!step || !found.length) return
    event.preventDefault()
    const next = (at + step + found.length) % found.length
    setAt(next)
    ref.current?.querySelector(`#choice-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <dialog ref={ref} class="palette" aria-label={label} onClose={onClose} onCancel={onClose}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={`choice-${at}`}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onKeyDown={press}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
      />
      <div id="choices" class="options" role="listbox" aria-label="Found">
        {found.map((one, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field above moves and opens by keyboard
          <div
            key={one.name}
            id={`choice-${i}`}
            role="option"
            aria-selected={i === at}
            onClick={() => choose(one)}
            onMouseMove={() => setAt(i)}
          >
            <span>{one.name}</span>
            <span class="faint small">{one.hint}</span>
          </div>
        ))}
      </div>
    </dialog>
  )
}
