import type { ComponentChildren, PartialAnchorHTMLAttributes } from 'preact'
import { useMemo } from 'preact/hooks'
import { selectedTeam } from './api.ts'
import { observable, useObservable } from './observable.ts'
import { confirmLeave } from './unsaved.ts'

const BASE = '/console'

const OLD_ORGANIZATION_PATH = new RegExp(`^${BASE}/organisation(?=/|$)`)

/** Redirects URLs that were shared before the path was renamed. */
function readLocation() {
  if (OLD_ORGANIZATION_PATH.test(location.pathname))
    history.replaceState(null, '', location.pathname.replace(OLD_ORGANIZATION_PATH, `${BASE}/organization`) + location.search)
  return { path: location.pathname.slice(BASE.length) || '/', search: location.search }
}

export const currentLocation = observable(readLocation())

addEventListener('popstate', () => {
  const { path, search } = currentLocation.get()
  if (readLocation().path === path || confirmLeave()) return currentLocation.set(readLocation())
  history.pushState(null, '', BASE + path + search)
})

/** Organization and account pages belong to no team. */
export const isOutsideTeam = (path: string) => path.startsWith('/organization') || path.startsWith('/account')

/** Team URLs contain the team, so they can be shared. */
function href(path: string) {
  const team = selectedTeam.get()
  return isOutsideTeam(path) || path.startsWith('/sign-in') || !team ? BASE + path : `${BASE}/t/${team}${path}`
}

/** `replace` skips the unsaved-changes prompt, because the page itself navigates. */
export function navigate(path: string, { replace = false } = {}) {
  if (!replace && href(path).split('?')[0] !== location.pathname && !confirmLeave()) return
  history[replace ? 'replaceState' : 'pushState'](null, '', href(path))
  currentLocation.set(readLocation())
  if (!replace) scrollTo(0, 0)
}

export const usePath = () => useObservable(currentLocation).path.replace(/^\/t\/[^/]+/, '') || '/'

export const teamInPath = () => /^\/t\/([^/]+)/.exec(currentLocation.get().path)?.[1]

export function useSearchParams() {
  const { search } = useObservable(currentLocation)
  return useMemo(() => new URLSearchParams(search), [search])
}

export const pageNumber = (search: URLSearchParams) => Math.max(Math.trunc(Number(search.get('page'))) || 1, 1)

/** Updates the query string and drops empty values. */
export function setSearchParams(change: Record<string, string | string[] | null | undefined>) {
  const search = new URLSearchParams(currentLocation.get().search)
  for (const [name, value] of Object.entries(change)) {
    search.delete(name)
    for (const item of [value ?? []].flat()) if (item) search.append(name, item)
  }
  const text = search.toString()
  history.replaceState(null, '', location.pathname + (text ? `?${text}` : ''))
  currentLocation.set(readLocation())
}

type LinkProps = { to: string; children: ComponentChildren } & Omit<
  PartialAnchorHTMLAttributes<HTMLAnchorElement>,
  'href' | 'onClick' | 'role'
>

export function Link({ to, children, ...rest }: LinkProps) {
  useObservable(selectedTeam)
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a {...rest} href={href(to)} onClick={follow}>
      {children}
    </a>
  )
}

export type Params = Record<string, string>

/** Matches a pattern such as `/orders/:order_id` and returns its parameters. */
export function matchPath(pattern: string, path: string): Params | undefined {
  const patternParts = pattern.split('/')
  const pathParts = path.split('/')
  if (patternParts.length !== pathParts.length) return undefined
  const params: Params = {}
  for (const [i, part] of patternParts.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(pathParts[i] ?? '')
    else if (part !== pathParts[i]) return undefined
  }
  return params
}
