import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { go } from '../router.tsx'
import { searches } from '../searches.ts'
import { session } from '../session.ts'
import { reachable } from './side.tsx'

type Found = { name: string; hint: string; to: string; first?: () => void }

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?$/i.test(text)

/** Pages by name, and anything by its id. */
function matching(text: string): Found[] {
  const wanted = text.trim().toLowerCase()
  const pages: Found[] = reachable(session.get())
    .flatMap(({ title, of }) => of.map(({ name, to }) => ({ name, to, hint: title ?? 'Page' })))
    .concat({ name: 'Place an order', to: '/orders/new', hint: 'Action' })
    .filter(({ name }) => name.toLowerCase().includes(wanted))
  if (!wanted) return pages
  const whole = wanted.length === 36 && isId(wanted)
  return [
    ...(whole ? [{ name: 'Open the order of this id', hint: 'Order', to: `/orders/${wanted}` }] : []),
    ...(whole ? [{ name: 'Open the user of this id', hint: 'User', to: `/users/${wanted}` }] : []),
    ...pages,
    { name: `Orders that match “${text.trim()}”`, hint: 'Search', to: '/orders', first: () => searches.orders.set(text.trim()) },
    { name: `Users that match “${text.trim()}”`, hint: 'Search', to: '/users', first: () => searches.users.set(text.trim()) },
  ]
}

export function Palette({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  // Before the next key comes: whoever types on at once means the palette.
  useLayoutEffect(() => {
    ref.current?.showModal()
  }, [])
  const found = matching(text)
  const open = (one: Found | undefined) => {
    if (!one) return
    onClose()
    one.first?.()
    go(one.to)
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Enter') open(found[at])
    if (!step) return
    event.preventDefault()
    setAt((at + step + found.length) % found.length)
  }
  return (
    <dialog ref={ref} class="palette" aria-label="Search or go to" onClose={onClose} onCancel={onClose}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at}`}
        aria-label="Search or go to"
        placeholder="Type a page, a name or an id"
        value={text}
        onKeyDown={press}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
      />
      <div id="palette-list" class="options" role="listbox" aria-label="Found">
        {found.map((one, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field above moves and opens by keyboard
          <div
            key={one.name}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === at}
            onClick={() => open(one)}
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
