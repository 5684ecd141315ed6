import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import { selectedTeam } from '../api.ts'
import { useObservable } from '../observable.ts'
import { isOutsideTeam, Link, matchPath, teamInPath } from '../router.tsx'
import { type PageProps, type Route, routes } from '../routes.ts'
import { session } from '../session.ts'
import { Button, EmptyState, Skeleton } from '../ui/basics.tsx'

/** The page that the address names, or why there is none. */
export function Content({ path }: { path: string }) {
  const team = useObservable(selectedTeam)
  const currentSession = useObservable(session)
  const route = routes.find((candidate) => matchPath(candidate.path, path))
  const { Page, hasFailed } = useRoute(route)
  const teamInUrl = teamInPath()
  if (!route)
    return (
      <EmptyState title="There is no such page" actions={<Link to="/">Go to the overview</Link>}>
        The address may be misspelt, or the page was moved.
      </EmptyState>
    )
  if (!team && !isOutsideTeam(route.path))
    return (
      <EmptyState title={`${currentSession?.org.name} has no team yet`} actions={<Link to="/organisation">Create a team</Link>}>
        Users, orders and webhooks belong to a team.
      </EmptyState>
    )
  if (teamInUrl && teamInUrl !== team)
    return (
      <EmptyState title="You do not reach this team" actions={<Link to="/">Go to the overview</Link>}>
        The address names a team that is not there, or that this session may not see. Sign in as somebody who may.
      </EmptyState>
    )
  if (hasFailed) return <ErrorState>A part of the console could not be loaded: the service is away, or was updated meanwhile.</ErrorState>
  if (!Page) return <Skeleton lines={8} />
  // Another order is another page: what was revealed, typed or opened on one is not on the next.
  return (
    <ErrorBoundary key={`${team} ${path}`}>
      <Page params={matchPath(route.path, path) ?? {}} />
    </ErrorBoundary>
  )
}

type LoadedPage = { route: Route; Page: ComponentType<PageProps> }

/** What a view needs is loaded when it is first opened; where that fails, the page says so. */
function useRoute(route: Route | undefined) {
  const [loaded, setLoaded] = useState<LoadedPage>()
  const [failed, setFailed] = useState<Route>()
  useEffect(() => {
    let current = true
    setFailed(undefined)
    route?.load().then(
      (Page) => current && setLoaded({ route, Page }),
      () => current && setFailed(route),
    )
    return () => {
      current = false
    }
  }, [route])
  return { Page: loaded && loaded.route === route ? loaded.Page : undefined, hasFailed: failed !== undefined && failed === route }
}

/** A page that breaks while it is drawn says so; the menu around it goes on working. */
function ErrorBoundary({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  return error ? <ErrorState>This page broke while it was drawn. Nothing was changed by it.</ErrorState> : children
}

export const ErrorState = ({ children }: { children: string }) => (
  <EmptyState title="Something went wrong" actions={<Button onClick={() => location.reload()}>Load the page again</Button>}>
    {children}
  </EmptyState>
)
