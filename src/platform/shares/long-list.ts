const longLists = new WeakSet<object>()

/** A list in a result whose entries are made while the response is written. All of them at once would take much memory. */
export function longList<T, R>(items: () => Iterable<T>, map: (item: T) => R): R[] {
  const list = {
    *[Symbol.iterator]() {
      for (const item of items()) yield map(item)
    },
    /** Where nothing writes it in parts. */
    toJSON: (): R[] => [...list],
  }
  longLists.add(list)
  return list as unknown as R[]
}

export const isLongList = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && longLists.has(value)

/** Replaces the long lists of a result by arrays. */
export function withArrays(value: unknown): unknown {
  if (isLongList(value)) return [...value]
  if (Array.isArray(value)) return value.map(withArrays)
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withArrays(field)]))
}

export const isPlain = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)
