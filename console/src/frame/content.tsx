import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import { selectedTeam } from '../api.ts'
import { useObservable } from '../observable.ts'
import { isOutsideTeam, Link, matchPath, teamInPath } from '../router.tsx'
import { type PageProps, type Route, routes } from '../routes.ts'
import { session } from '../session.ts'
import { Button, EmptyState, Skeleton } from '../ui/basics.tsx'

export function Content({ path }: { path: string }) {
  const team = useObservable(selectedTeam)
  const currentSession = useObservable(session)
  const route = routes.find((candidate) => matchPath(candidate.path, path))
  const { Page, hasFailed } = useRoute(route)
  const teamInUrl = teamInPath()
  if (!route)
    return (
      <EmptyState title="Page not found" actions={<Link to="/">Go to overview</Link>}>
        Check the URL. The page may have moved.
      </EmptyState>
    )
  if (!team && !isOutsideTeam(route.path))
    return (
      <EmptyState title={`${currentSession?.org.name} has no teams yet`} actions={<Link to="/organization">Create team</Link>}>
        Create a team first. Users, orders and webhooks belong to a team.
      </EmptyState>
    )
  if (teamInUrl && teamInUrl !== team)
    return (
      <EmptyState title="You don't have access to this team" actions={<Link to="/">Go to overview</Link>}>
        The team in the URL does not exist, or your role does not include it. Ask an administrator for access.
      </EmptyState>
    )
  if (hasFailed) return <LoadFailure />
  if (!Page) return <Skeleton lines={8} />
  // The key resets revealed data and form input when the URL changes.
  return (
    <ErrorBoundary key={`${team} ${path}`}>
      <Page params={matchPath(route.path, path) ?? {}} />
    </ErrorBoundary>
  )
}

type LoadedPage = { route: Route; Page: ComponentType<PageProps> }

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

/** Contains a rendering error to its page, so the navigation keeps working. */
function ErrorBoundary({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  return error ? <ErrorState>The console could not display this page. No data was changed.</ErrorState> : children
}

export const LoadFailure = () => (
  <ErrorState>This page failed to load. The service may be down or was just updated. Reload the page.</ErrorState>
)

const ErrorState = ({ children }: { children: string }) => (
  <EmptyState title="Something went wrong" actions={<Button onClick={() => location.reload()}>Reload page</Button>}>
    {children}
  </EmptyState>
)
