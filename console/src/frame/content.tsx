import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import { chosenTeam } from '../api.ts'
import { useStore } from '../observable.ts'
import { isOfNoTeam, Link, match, teamInPath } from '../router.tsx'
import { type PageProps, type Route, routes } from '../routes.ts'
import { session } from '../session.ts'
import { Button, Empty, Skeleton } from '../ui/basics.tsx'

/** The page that the address names, or why there is none. */
export function Content({ path }: { path: string }) {
  const team = useStore(chosenTeam)
  const who = useStore(session)
  const route = routes.find((one) => match(one.path, path))
  const { Page, isFailed } = useRoute(route)
  const named = teamInPath()
  if (!route)
    return (
      <Empty title="There is no such page" actions={<Link to="/">Go to the overview</Link>}>
        The address may be misspelt, or the page was moved.
      </Empty>
    )
  if (!team && !isOfNoTeam(route.path))
    return (
      <Empty title={`${who?.org.name} has no team yet`} actions={<Link to="/organisation">Create a team</Link>}>
        Users, orders and webhooks belong to a team.
      </Empty>
    )
  if (named && named !== team)
    return (
      <Empty title="You do not reach this team" actions={<Link to="/">Go to the overview</Link>}>
        The address names a team that is not there, or that this session may not see. Sign in as somebody who may.
      </Empty>
    )
  if (isFailed) return <Broken>A part of the console could not be loaded: the service is away, or was updated meanwhile.</Broken>
  if (!Page) return <Skeleton lines={8} />
  // Another order is another page: what was revealed, typed or opened on one is not on the next.
  return (
    <Whole key={`${team} ${path}`}>
      <Page params={match(route.path, path) ?? {}} />
    </Whole>
  )
}

type Found = { route: Route; Page: ComponentType<PageProps> }

/** What a view needs is loaded when it is first opened; where that fails, the page says so. */
function useRoute(route: Route | undefined) {
  const [found, setFound] = useState<Found>()
  const [failed, setFailed] = useState<Route>()
  useEffect(() => {
    let current = true
    setFailed(undefined)
    route?.load().then(
      (Page) => current && setFound({ route, Page }),
      () => current && setFailed(route),
    )
    return () => {
      current = false
    }
  }, [route])
  return { Page: found && found.route === route ? found.Page : undefined, isFailed: failed !== undefined && failed === route }
}

/** A page that breaks while it is drawn says so; the menu around it goes on working. */
function Whole({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  return error ? <Broken>This page broke while it was drawn. Nothing was changed by it.</Broken> : children
}

export const Broken = ({ children }: { children: string }) => (
  <Empty title="Something went wrong" actions={<Button onClick={() => location.reload()}>Load the page again</Button>}>
    {children}
  </Empty>
)
