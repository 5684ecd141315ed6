import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { chosenTeam } from '../api.ts'
import { isOfNoTeam, Link, match, usePath } from '../router.tsx'
import { type PageProps, type Route, routes } from '../routes.ts'
import { session } from '../session.ts'
import { useStore } from '../store.ts'
import { Button, Empty, Skeleton } from '../ui/basics.tsx'
import { Icon } from '../ui/icons.tsx'
import { ClockChip } from './clock-chip.tsx'
import { useShortcuts } from './shortcuts.tsx'
import { Side } from './side.tsx'

export function Frame() {
  const [drawer, setDrawer] = useState(false)
  const { dialogs, openPalette } = useShortcuts()
  const path = usePath()
  useEffect(() => setDrawer(false), [path])
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <aside class="side" aria-label="Console">
        <Side />
      </aside>
      <div>
        <header class="top">
          <Button kind="plain" class="icon menu-button" aria-label="Menu" onClick={() => setDrawer(true)}>
            <Icon name="menu" />
          </Button>
          <Button kind="plain" onClick={openPalette}>
            <Icon name="search" />
            <span class="muted">
              Search or go to <kbd class="wide">Ctrl K</kbd>
            </span>
          </Button>
          <span class="grow" />
          <ClockChip />
        </header>
        <Content path={path} />
      </div>
      {drawer && <Drawer onClose={() => setDrawer(false)} />}
      {dialogs}
    </div>
  )
}

function Drawer({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    ref.current?.showModal()
  }, [])
  return (
    <dialog ref={ref} class="drawer" aria-label="Menu" onClose={onClose} onCancel={onClose}>
      <div class="side open">
        <Side />
        <Button onClick={onClose}>Close menu</Button>
      </div>
    </dialog>
  )
}

type Found = { route: Route; Page: ComponentType<PageProps> }

function Content({ path }: { path: string }) {
  const team = useStore(chosenTeam)
  const who = useStore(session)
  const route = routes.find((one) => match(one.path, path))
  const [found, setFound] = useState<Found>()
  useEffect(() => {
    let current = true
    route?.load().then((Page) => current && setFound({ route, Page }))
    return () => {
      current = false
    }
  }, [route])
  const ready = found && found.route === route
  return (
    <main id="content" tabIndex={-1}>
      {!route ? (
        <Empty title="There is no such page" actions={<Link to="/">Go to the overview</Link>}>
          The address may be misspelt, or the page was moved.
        </Empty>
      ) : !team && !isOfNoTeam(route.path) ? (
        <Empty title={`${who?.org.name} has no team yet`} actions={<Link to="/organisation">Create a team</Link>}>
          Users, orders and webhooks belong to a team.
        </Empty>
      ) : ready ? (
        <found.Page key={`${team} ${route.path}`} params={match(route.path, path) ?? {}} />
      ) : (
        <Skeleton lines={8} />
      )}
    </main>
  )
}
