import { useEffect, useState } from 'preact/hooks'

type Observable<T> = { get(): T; set(next: T): void; watch(listener: () => void): () => void }

/** A shared value. Components that read it with `useObservable` rerender when it changes. */
export function observable<T>(initial: T): Observable<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useObservable<T>(source: Observable<T>): T {
  const [value, setValue] = useState(source.get)
  useEffect(() => {
    const update = () => setValue(() => source.get())
    update()
    return source.watch(update)
  }, [source])
  return value
}
