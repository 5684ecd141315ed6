import { useEffect, useState } from 'preact/hooks'

export type Observable<T> = { get(): T; set(next: T): void; watch(seen: () => void): () => void }

/** A value that several parts of the page share; whoever uses it is drawn anew when it changes. */
export function observable<T>(first: T): Observable<T> {
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

export function useObservable<T>(source: Observable<T>): T {
  const [value, take] = useState(source.get)
  useEffect(() => {
    const look = () => take(() => source.get())
    look()
    return source.watch(look)
  }, [source])
  return value
}
