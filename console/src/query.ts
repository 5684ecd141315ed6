import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, inBackground } from './api.ts'

export type Query<T> = { data: T | undefined; error: ApiError | undefined; loading: boolean; reload: () => Promise<void> }

const cache = new Map<string, unknown>()
const subscribers = new Map<string, Set<() => void>>()
const MAX_CACHED_QUERIES = 200

/** Shows cached data at once and reloads it. `refreshMs` polls while the page is visible. */
export function useQuery<T>(key: string | null, load: () => Promise<T>, { refreshMs }: { refreshMs?: number | undefined } = {}): Query<T> {
  const [, rerender] = useState(0)
  const state = useRef<{ key: string | null; data?: T; error?: ApiError | undefined; loading: boolean }>({ key: null, loading: false })
  const inFlight = useRef<{ key: string; isStale: boolean }>(undefined)
  const currentLoad = useRef(load)
  currentLoad.current = load
  if (state.current.key !== key) {
    const cached = key ? cache.get(key) : undefined
    // The previous page stays visible until the next one loads.
    const data = (cached ?? (isSameList(state.current.key, key) ? state.current.data : undefined)) as T | undefined
    state.current = { key, loading: key !== null, ...(data === undefined ? {} : { data }) }
  }
  const reload = useCallback(async () => {
    if (key === null) return
    // Reloads during a request share one follow-up request, so a hundred events cost two.
    if (inFlight.current?.key === key) {
      inFlight.current.isStale = true
      return
    }
    const request = { key, isStale: false }
    inFlight.current = request
    const settle = (change: Partial<typeof state.current>) => {
      if (state.current.key !== key) return
      state.current = { ...state.current, loading: false, ...change }
      rerender((n) => n + 1)
    }
    await callLoad(currentLoad.current).then(
      (data) => {
        cacheResult(key, data)
        settle({ data, error: undefined })
      },
      (error: ApiError) => settle({ error }),
    )
    if (inFlight.current === request) inFlight.current = undefined
    if (request.isStale && state.current.key === key) await inBackground(reload)
  }, [key])
  useEffect(() => {
    if (key === null) return
    void reload()
    return subscribe(key, reload)
  }, [key, reload])
  useEffect(() => {
    if (!refreshMs || key === null) return
    const poll = () => {
      // A rejected request would be rejected again, and the server audits each rejection.
      const { status = 0 } = state.current.error ?? {}
      const isRejected = status >= 400 && status < 500
      if (document.visibilityState === 'visible' && !isRejected) void inBackground(reload)
    }
    const timer = setInterval(poll, refreshMs)
    return () => clearInterval(timer)
  }, [refreshMs, key, reload])
  const { data, error, loading } = state.current
  return { data, error, loading, reload }
}

/** Turns a synchronous throw into a rejection. The call is synchronous so that `inBackground` still applies. */
const callLoad = async <T>(load: () => Promise<T>) => load()

const isSameList = (a: string | null, b: string | null) => a !== null && b !== null && a.split('?')[0] === b.split('?')[0]

function cacheResult(key: string, data: unknown) {
  cache.delete(key)
  cache.set(key, data)
  if (cache.size > MAX_CACHED_QUERIES) cache.delete(cache.keys().next().value as string)
}

function subscribe(key: string, reload: () => void) {
  const reloads = subscribers.get(key) ?? new Set()
  subscribers.set(key, reloads.add(reload))
  return () => {
    reloads.delete(reload)
    if (!reloads.size) subscribers.delete(key)
  }
}

/** Reloads visible queries whose key has one of the prefixes and drops the rest from the cache. */
export function refresh(...prefixes: string[]) {
  const matchesPrefix = (key: string) => prefixes.some((prefix) => key.startsWith(prefix))
  for (const [key, reloads] of subscribers) if (matchesPrefix(key)) for (const reload of reloads) reload()
  for (const key of cache.keys()) if (matchesPrefix(key) && !subscribers.has(key)) cache.delete(key)
}

export const clearCache = () => cache.clear()
