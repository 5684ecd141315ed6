import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { selectedTeam } from './api.ts'
import { loadClock } from './clock.ts'
import { useEventStream } from './event-stream.ts'
import { LoadFailure } from './frame/content.tsx'
import { Frame } from './frame/frame.tsx'
import { useObservable } from './observable.ts'
import { SignIn } from './pages/sign-in.tsx'
import { currentLocation, isOutsideTeam, navigate, usePath } from './router.tsx'
import { isInvitation } from './routes.ts'
import { loadSession, session, sessionError } from './session.ts'
import { Skeleton } from './ui/basics.tsx'
import { ErrorNotice } from './ui/table.tsx'
import { Toasts } from './ui/toasts.tsx'

export function App() {
  const currentSession = useObservable(session)
  const loadError = useObservable(sessionError)
  const path = usePath()
  if (isInvitation(path)) return <LazyPage load={() => import('./pages/invitation.tsx').then(({ Invitation }) => Invitation)} />
  if (currentSession === undefined)
    return (
      <div class="sign-in">
        <main aria-label="Loading">{loadError ? <ErrorNotice error={loadError} onRetry={loadSession} /> : <Skeleton />}</main>
      </div>
    )
  if (currentSession === null || path === '/sign-in')
    return (
      <>
        <SignIn />
        <Toasts />
      </>
    )
  return <SignedIn />
}

function LazyPage({ load }: { load: () => Promise<ComponentType> }) {
  const [Page, setPage] = useState<ComponentType>()
  const [hasFailed, setHasFailed] = useState(false)
  useEffect(() => {
    load().then(
      (Page) => setPage(() => Page),
      () => setHasFailed(true),
    )
  }, [])
  if (hasFailed) return <LoadFailure />
  return Page ? <Page /> : null
}

function SignedIn() {
  const team = useObservable(selectedTeam)
  useEventStream()
  useEffect(() => {
    void loadClock().catch(() => {})
  }, [team])
  useEffect(() => {
    // A team page without a team in its URL gets the selected one.
    const { path, search } = currentLocation.get()
    if (team && !/^\/(t|invitation)(\/|$)/.test(path) && !isOutsideTeam(path))
      navigate((path === '/' ? '' : path) + search || '/', { replace: true })
  }, [team])
  return (
    <>
      <Frame />
      <Toasts />
    </>
  )
}
