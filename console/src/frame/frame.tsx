import { useEffect, useState } from 'preact/hooks'
import { usePath } from '../router.tsx'
import { Button } from '../ui/basics.tsx'
import { Icon } from '../ui/icons.tsx'
import { useModal } from '../ui/modal.ts'
import { ClockChip } from './clock-chip.tsx'
import { Content } from './content.tsx'
import { useShortcuts } from './shortcuts.tsx'
import { Sidebar } from './sidebar.tsx'

export function Frame() {
  const [isDrawerOpen, setIsDrawerOpen] = useState(false)
  const { dialogs, openPalette } = useShortcuts()
  const path = usePath()
  useEffect(() => setIsDrawerOpen(false), [path])
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <aside class="side" aria-label="Console">
        <Sidebar />
      </aside>
      <div>
        <header class="top">
          <Button kind="plain" class="icon menu-button" aria-label="Menu" onClick={() => setIsDrawerOpen(true)}>
            <Icon name="menu" />
          </Button>
          <Button kind="plain" onClick={openPalette}>
            <Icon name="search" />
            <span class="muted">
              Search <kbd class="wide">Ctrl K</kbd>
            </span>
          </Button>
          <span class="grow" />
          <ClockChip />
        </header>
        <main id="content" tabIndex={-1}>
          <Content path={path} />
        </main>
      </div>
      {isDrawerOpen && <Drawer onClose={() => setIsDrawerOpen(false)} />}
      {dialogs}
    </div>
  )
}

function Drawer({ onClose }: { onClose: () => void }) {
  const ref = useModal()
  return (
    <dialog ref={ref} class="drawer" aria-label="Menu" onClose={onClose} onCancel={onClose}>
      <div class="side open">
        <Sidebar />
        <Button onClick={onClose}>Close menu</Button>
      </div>
    </dialog>
  )
}
