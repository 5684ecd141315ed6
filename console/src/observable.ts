import { useEffect, useState } from 'preact/hooks'

export type Store<T> = { get(): T; set(next: T): void; watch(seen: () => void): () => void }

/** A value that several parts of the page share; whoever uses it is drawn anew when it changes. */
export function store<T>(first: T): Store<T> {
  let value = first
  const watchers = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const seen of [...watchers]) seen()
    },
    watch(seen) {
      watchers.add(seen)
      return () => watchers.delete(seen)
    },
  }
}

export function useStore<T>(of: Store<T>): T {
  const [value, take] = useState(of.get)
  useEffect(() => {
    const look = () => take(() => of.get())
    look()
    return of.watch(look)
  }, [of])
  return value
}
