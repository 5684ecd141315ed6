import { useEffect, useState } from 'preact/hooks'
import { navigate } from '../router.tsx'
import { navGroups } from '../routes.ts'
import { Button } from '../ui/basics.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Palette } from './palette.tsx'

const SEQUENCE_MS = 1_200
const pathByKey = Object.fromEntries(navGroups.flatMap(({ items }) => items.flatMap(({ key, to }) => (key ? [[key, to]] : []))))

const shortcuts: [keys: string, description: string][] = [
  ['?', 'Show these shortcuts'],
  ['Ctrl K', 'Search pages, orders and users'],
  ['/', 'Search this list'],
  ['n', 'Place order'],
  ['j  k', 'Next and previous row'],
  ['Enter', 'Open row'],
  ...navGroups.flatMap(({ items }) => items.flatMap(({ key, name }): [string, string][] => (key ? [[`g ${key}`, name]] : []))),
]

/** Shortcuts are off while a text field has focus or a dialog is open. */
export function useShortcuts() {
  const [open, setOpen] = useState<'palette' | 'help'>()
  useEffect(() => {
    let sequenceStartedAt = 0
    const handleKey = (event: KeyboardEvent) => {
      const isK = event.key === 'k' && (event.ctrlKey || event.metaKey)
      if (isK) {
        event.preventDefault()
        return setOpen('palette')
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector('dialog[open]')) return
      const target = pathByKey[event.key]
      if (sequenceStartedAt && Date.now() - sequenceStartedAt < SEQUENCE_MS && target) navigate(target)
      else if (event.key === '?') setOpen('help')
      else if (event.key === 'n') navigate('/orders/new')
      else if (event.key === '/') focusFirst(event, 'main input[type="search"]')
      else if (event.key === 'j' || event.key === 'k') moveRow(event.key === 'j' ? 1 : -1)
      sequenceStartedAt = event.key === 'g' ? Date.now() : 0
    }
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [])
  const close = () => setOpen(undefined)
  return {
    openPalette: () => setOpen('palette'),
    dialogs: open === 'palette' ? <Palette onClose={close} /> : open === 'help' ? <Help onClose={close} /> : null,
  }
}

const isTyping = (target: EventTarget | null) => target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)

function focusFirst(event: Event, selector: string) {
  const element = document.querySelector<HTMLElement>(selector)
  if (!element) return
  event.preventDefault()
  element.focus()
}

function moveRow(step: 1 | -1) {
  const links = [...document.querySelectorAll<HTMLElement>('main .row-link')]
  const index = links.indexOf(document.activeElement as HTMLElement)
  links[index === -1 ? (step === 1 ? 0 : links.length - 1) : Math.min(Math.max(index + step, 0), links.length - 1)]?.focus()
}

const Help = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl class="facts">
      {shortcuts.map(([keys, description]) => (
        <>
          <dt>
            {keys.split(/ +/).map((key) => (
              <>
                <kbd>{key}</kbd>{' '}
              </>
            ))}
          </dt>
          <dd>{description}</dd>
        </>
      ))}
    </dl>
    <div class="actions">
      <a class="button plain" href="/docs">
        Documentation
      </a>
      <Button kind="primary" onClick={onClose}>
        Close
      </Button>
    </div>
  </Dialog>
)
