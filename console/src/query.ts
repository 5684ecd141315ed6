import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { byItself, type Failure } from './api.ts'

export type Query<T> = { data: T | undefined; error: Failure | undefined; loading: boolean; reload: () => Promise<void> }

const kept = new Map<string, unknown>()
const readers = new Map<string, Set<() => void>>()
const LIMIT = 200

/** What was asked before is shown at once and asked again; `every` asks again while the page is looked at. */
export function useQuery<T>(key: string | null, load: () => Promise<T>, { every }: { every?: number | undefined } = {}): Query<T> {
  const [, draw] = useState(0)
  const state = useRef<{ key: string | null; data?: T; error?: Failure | undefined; loading: boolean }>({ key: null, loading: false })
  const turn = useRef<{ key: string; again: boolean }>(undefined)
  const asking = useRef(load)
  asking.current = load
  if (state.current.key !== key) {
    const before = key ? kept.get(key) : undefined
    // Until the next page is there the last one stays, so that nothing jumps.
    const data = (before ?? (sameKind(state.current.key, key) ? state.current.data : undefined)) as T | undefined
    state.current = { key, loading: key !== null, ...(data === undefined ? {} : { data }) }
  }
  const reload = useCallback(async () => {
    if (key === null) return
    // Whatever wants it while it is asked for gets one more asking, so that a hundred events cost two.
    if (turn.current?.key === key) {
      turn.current.again = true
      return
    }
    const mine = { key, again: false }
    turn.current = mine
    const settle = (change: Partial<typeof state.current>) => {
      if (state.current.key !== key) return
      state.current = { ...state.current, loading: false, ...change }
      draw((n) => n + 1)
    }
    await asked(asking.current).then(
      (data) => {
        keep(key, data)
        settle({ data, error: undefined })
      },
      (error: Failure) => settle({ error }),
    )
    if (turn.current === mine) turn.current = undefined
    if (mine.again && state.current.key === key) await byItself(reload)
  }, [key])
  useEffect(() => {
    if (key === null) return
    void reload()
    return attend(key, reload)
  }, [key, reload])
  useEffect(() => {
    if (!every || key === null) return
    const again = () => {
      // What was refused once is refused again, and each refusal is audited.
      const { status = 0 } = state.current.error ?? {}
      const isRefused = status >= 400 && status < 500
      if (document.visibilityState === 'visible' && !isRefused) void byItself(reload)
    }
    const timer = setInterval(again, every)
    return () => clearInterval(timer)
  }, [every, key, reload])
  const { data, error, loading } = state.current
  return { data, error, loading, reload }
}

/** What throws before it asks has failed too. Called at once, so that whoever asks by itself is still known to. */
const asked = async <T>(load: () => Promise<T>) => load()

const sameKind = (a: string | null, b: string | null) => a !== null && b !== null && a.split('?')[0] === b.split('?')[0]

function keep(key: string, data: unknown) {
  kept.delete(key)
  kept.set(key, data)
  if (kept.size > LIMIT) kept.delete(kept.keys().next().value as string)
}

function attend(key: string, reload: () => void) {
  const all = readers.get(key) ?? new Set()
  readers.set(key, all.add(reload))
  return () => {
    all.delete(reload)
    if (!all.size) readers.delete(key)
  }
}

/** Whatever begins like this is asked again where it is shown, and forgotten where it is not. */
export function refresh(...beginnings: string[]) {
  const begins = (key: string) => beginnings.some((beginning) => key.startsWith(beginning))
  for (const [key, all] of readers) if (begins(key)) for (const reload of all) reload()
  for (const key of kept.keys()) if (begins(key) && !readers.has(key)) kept.delete(key)
}

export const forgetAll = () => kept.clear()
