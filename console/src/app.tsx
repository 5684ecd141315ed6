import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { chosenTeam } from './api.ts'
import { readClock } from './clock.ts'
import { Broken } from './frame/content.tsx'
import { Frame } from './frame/frame.tsx'
import { useEventLine } from './live.ts'
import { useStore } from './observable.ts'
import { SignIn } from './pages/sign-in.tsx'
import { go, isOfNoTeam, place, usePath } from './router.tsx'
import { isInvitation } from './routes.ts'
import { openSession, session, unknown } from './session.ts'
import { Skeleton } from './ui/basics.tsx'
import { Failed } from './ui/table.tsx'
import { Toasts } from './ui/toasts.tsx'

export function App() {
  const who = useStore(session)
  const away = useStore(unknown)
  const path = usePath()
  if (isInvitation(path)) return <Later of={() => import('./pages/invitation.tsx').then(({ Invitation }) => Invitation)} />
  if (who === undefined)
    return (
      <div class="sign-in">
        <main aria-label="Loading">{away ? <Failed error={away} again={openSession} /> : <Skeleton />}</main>
      </div>
    )
  if (who === null || path === '/sign-in')
    return (
      <>
        <SignIn />
        <Toasts />
      </>
    )
  return <Inside />
}

/** A page outside the frame, loaded when it is asked for. */
function Later({ of }: { of: () => Promise<ComponentType> }) {
  const [Page, setPage] = useState<ComponentType>()
  const [isFailed, setFailed] = useState(false)
  useEffect(() => {
    of().then(
      (Page) => setPage(() => Page),
      () => setFailed(true),
    )
  }, [])
  if (isFailed) return <Broken>The page could not be loaded: the service is away, or was updated meanwhile.</Broken>
  return Page ? <Page /> : null
}

function Inside() {
  const team = useStore(chosenTeam)
  useEventLine()
  useEffect(() => {
    void readClock().catch(() => {})
  }, [team])
  useEffect(() => {
    // An address without its team gets the chosen one.
    const { path, search } = place.get()
    if (team && !/^\/(t|invitation)(\/|$)/.test(path) && !isOfNoTeam(path))
      go((path === '/' ? '' : path) + search || '/', { replace: true })
  }, [team])
  return (
    <>
      <Frame />
      <Toasts />
    </>
  )
}
