import { cutIntoSlices } from '../shares/slices.ts'

type Texts = { items(): Iterable<unknown>; toJson(items: unknown[]): string | Buffer }
/** How the entries of a list are written, unless they are made as values first. */
const longLists = new WeakMap<object, Texts | undefined>()

/** A list in a result whose entries are made while the response is written. All of them at once would take much memory. */
export const longList = <T, R>(items: () => Iterable<T>, map: (item: T) => R): R[] => newList(items, map)

/** A list of entries whose JSON is faster to write than to make a value of. `toJson` writes several, separated by commas. */
export const longJsonList = <T, R>(items: () => Iterable<T>, toJson: (items: T[]) => string | Buffer): R[] =>
  newList(items, (item): R => JSON.parse(String(toJson([item]))), { items, toJson } as Texts)

function newList<T, R>(items: () => Iterable<T>, map: (item: T) => R, texts?: Texts): R[] {
  const list = {
    *[Symbol.iterator]() {
      for (const item of items()) yield map(item)
    },
    /** For other serializers than `stringifyInSlices`. */
    toJSON: (): R[] => [...list],
  }
  longLists.set(list, texts)
  return list as unknown as R[]
}

export const isLongList = (value: unknown): value is Iterable<unknown> =>
  typeof value === 'object' && value !== null && longLists.has(value)

/** The JSON of so many entries of a long list at a time, if they are written that way. */
export function* jsonEntries(list: object, size: number): Generator<string | Buffer, void> {
  const texts = longLists.get(list)
  if (texts) for (const items of partsOf(texts.items(), size)) yield texts.toJson(items)
}

export function* partsOf<T>(list: Iterable<T>, size: number): Generator<T[], void> {
  if (Array.isArray(list)) {
    for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size)
    return
  }
  let part: T[] = []
  for (const entry of list) {
    part.push(entry)
    if (part.length < size) continue
    yield part
    part = []
  }
  if (part.length) yield part
}

export const writesJson = (list: object) => longLists.get(list) !== undefined

/** Replaces the long lists of a result by arrays. */
export function withArrays(value: unknown): unknown {
  if (isLongList(value)) return [...value]
  if (Array.isArray(value)) return value.map(withArrays)
  if (!isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withArrays(field)]))
}

/** Replaces the long lists of a result by arrays, with pauses for other requests. */
export async function withArraysInSlices(value: unknown, endSlice = cutIntoSlices()): Promise<unknown> {
  if (isLongList(value)) {
    const entries: unknown[] = []
    for (const entry of value) {
      entries.push(entry)
      await endSlice()
    }
    return entries
  }
  if (Array.isArray(value)) return Promise.all(value.map((entry) => withArraysInSlices(entry, endSlice)))
  if (!isPlain(value)) return value
  const fields = Object.entries(value).map(async ([name, field]) => [name, await withArraysInSlices(field, endSlice)] as const)
  return Object.fromEntries(await Promise.all(fields))
}

export const isPlain = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)
