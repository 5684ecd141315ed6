import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, inBackground } from './api.ts'

export type Query<T> = { data: T | undefined; error: ApiError | undefined; loading: boolean; reload: () => Promise<void> }

const cache = new Map<string, unknown>()
const subscribers = new Map<string, Set<() => void>>()
const MAX_CACHED_QUERIES = 200

/** What was asked before is shown at once and asked again; `every` asks again while the page is looked at. */
export function useQuery<T>(key: string | null, load: () => Promise<T>, { refreshMs }: { refreshMs?: number | undefined } = {}): Query<T> {
  const [, rerender] = useState(0)
  const state = useRef<{ key: string | null; data?: T; error?: ApiError | undefined; loading: boolean }>({ key: null, loading: false })
  const inFlight = useRef<{ key: string; isStale: boolean }>(undefined)
  const currentLoad = useRef(load)
  currentLoad.current = load
  if (state.current.key !== key) {
    const cached = key ? cache.get(key) : undefined
    // Until the next page is there the last one stays, so that nothing jumps.
    const data = (cached ?? (isSameList(state.current.key, key) ? state.current.data : undefined)) as T | undefined
    state.current = { key, loading: key !== null, ...(data === undefined ? {} : { data }) }
  }
  const reload = useCallback(async () => {
    if (key === null) return
    // Whatever wants it while it is asked for gets one more asking, so that a hundred events cost two.
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
    const isStale = () => {
      // What was refused once is refused again, and each refusal is audited.
      const { status = 0 } = state.current.error ?? {}
      const isRefused = status >= 400 && status < 500
      if (document.visibilityState === 'visible' && !isRefused) void inBackground(reload)
    }
    const timer = setInterval(isStale, refreshMs)
    return () => clearInterval(timer)
  }, [refreshMs, key, reload])
  const { data, error, loading } = state.current
  return { data, error, loading, reload }
}

/** What throws before it asks has failed too. Called at once, so that whoever asks by itself is still known to. */
const callLoad = async <T>(load: () => Promise<T>) => load()

const isSameList = (a: string | null, b: string | null) => a !== null && b !== null && a.split('?')[0] === b.split('?')[0]

function cacheResult(key: string, data: unknown) {
  cache.delete(key)
  cache.set(key, data)
  if (cache.size > MAX_CACHED_QUERIES) cache.delete(cache.keys().next().value as string)
}

function subscribe(key: string, reload: () => void) {
  const all = subscribers.get(key) ?? new Set()
  subscribers.set(key, all.add(reload))
  return () => {
    all.delete(reload)
    if (!all.size) subscribers.delete(key)
  }
}

/** Whatever begins like this is asked again where it is shown, and forgotten where it is not. */
export function refresh(...prefixes: string[]) {
  const matchesPrefix = (key: string) => prefixes.some((beginning) => key.startsWith(beginning))
  for (const [key, all] of subscribers) if (matchesPrefix(key)) for (const reload of all) reload()
  for (const key of cache.keys()) if (matchesPrefix(key) && !subscribers.has(key)) cache.delete(key)
}

export const clearCache = () => cache.clear()
