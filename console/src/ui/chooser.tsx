import { useState } from 'preact/hooks'
import { useModal } from './modal.ts'

export type ChooserOption = { name: string; hint: string; choose: () => void }

type ChooserProps = { label: string; placeholder: string; find: (text: string) => ChooserOption[]; onClose: () => void }

export function Chooser({ label, placeholder, find, onClose }: ChooserProps) {
  const ref = useModal()
  const [text, setText] = useState('')
  const [activeIndex, setActiveIndex] = useState(0)
  const options = find(text)
  const choose = (option: ChooserOption | undefined) => {
    if (!option) return
    onClose()
    option.choose()
  }
  const handleKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') {
      // This key press must not activate the element that gets focus back.
      event.preventDefault()
      return choose(options[activeIndex])
    }
    if (!step || !options.length) return
    event.preventDefault()
    const next = (activeIndex + step + options.length) % options.length
    setActiveIndex(next)
    ref.current?.querySelector(`#choice-${next}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <dialog ref={ref} class="palette" aria-label={label} onClose={onClose} onCancel={onClose}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={`choice-${activeIndex}`}
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onKeyDown={handleKey}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setActiveIndex(0)
        }}
      />
      <div id="choices" class="options" role="listbox" aria-label="Results">
        {options.map((option, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the input above handles the keyboard
          <div
            key={option.name}
            id={`choice-${i}`}
            role="option"
            aria-selected={i === activeIndex}
            onClick={() => choose(option)}
            onMouseMove={() => setActiveIndex(i)}
          >
            <span>{option.name}</span>
            <span class="faint small">{option.hint}</span>
          </div>
        ))}
      </div>
    </dialog>
  )
}
