import type { ComponentChildren, PartialAnchorHTMLAttributes } from 'preact'
import { useMemo } from 'preact/hooks'
import { chosenTeam } from './api.ts'
import { store, useStore } from './observable.ts'
import { mayLeave } from './unsaved.ts'

export const BASE = '/console'

const here = () => ({ path: location.pathname.slice(BASE.length) || '/', search: location.search })

export const place = store(here())

addEventListener('popstate', () => {
  const { path, search } = place.get()
  if (here().path === path || mayLeave()) return place.set(here())
  history.pushState(null, '', BASE + path + search)
})

/** Pages of the organisation and of whoever is signed in. */
export const isOfNoTeam = (path: string) => path.startsWith('/organisation') || path.startsWith('/account')

/** Addresses of a team carry it, so that they can be handed on; the others do not. */
export function href(path: string) {
  const team = chosenTeam.get()
  return isOfNoTeam(path) || path.startsWith('/sign-in') || !team ? BASE + path : `${BASE}/t/${team}${path}`
}

/** What replaces an address was decided by the page itself, and nobody is asked. */
export function go(path: string, { replace = false } = {}) {
  if (!replace && href(path).split('?')[0] !== location.pathname && !mayLeave()) return
  history[replace ? 'replaceState' : 'pushState'](null, '', href(path))
  place.set(here())
  if (!replace) scrollTo(0, 0)
}

/** The path without its team. */
export const usePath = () => useStore(place).path.replace(/^\/t\/[^/]+/, '') || '/'

export const teamInPath = () => /^\/t\/([^/]+)/.exec(place.get().path)?.[1]

export function useSearch() {
  const { search } = useStore(place)
  return useMemo(() => new URLSearchParams(search), [search])
}

/** The page of a list that the address names. */
export const pageIn = (search: URLSearchParams) => Math.max(Math.trunc(Number(search.get('page'))) || 1, 1)

/** Changes the question part of the address; empty values leave it. */
export function setSearch(change: Record<string, string | string[] | null | undefined>) {
  const search = new URLSearchParams(place.get().search)
  for (const [name, value] of Object.entries(change)) {
    search.delete(name)
    for (const one of [value ?? []].flat()) if (one) search.append(name, one)
  }
  const text = search.toString()
  history.replaceState(null, '', location.pathname + (text ? `?${text}` : ''))
  place.set(here())
}

type LinkProps = { to: string; children: ComponentChildren } & Omit<
  PartialAnchorHTMLAttributes<HTMLAnchorElement>,
  'href' | 'onClick' | 'role'
>

export function Link({ to, children, ...rest }: LinkProps) {
  useStore(chosenTeam)
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return
    event.preventDefault()
    go(to)
  }
  return (
    <a {...rest} href={href(to)} onClick={follow}>
      {children}
    </a>
  )
}

export type Params = Record<string, string>

/** `/orders/:order_id` against a path. */
export function match(pattern: string, path: string): Params | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Params = {}
  for (const [i, part] of wanted.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(given[i] ?? '')
    else if (part !== given[i]) return undefined
  }
  return params
}
