export type Caches = Map<symbol, unknown>

/** Declares a cache, or another value in memory. Each service has its own copy, created on first use and dropped with the service. */
export function declareCache<C>(create: () => C) {
  const name = Symbol('cache')
  return ({ caches }: { caches: Caches }): C => {
    if (!caches.has(name)) caches.set(name, create())
    return caches.get(name) as C
  }
}
