import { isLongList, isPlain, jsonEntries, partsOf, writesJson } from '../../platform/results/long-list.ts'
import { cutIntoSlices } from '../../platform/shares/slices.ts'

/** The number of entries of a list that are written at once. */
const ENTRIES = 20
/** Entries that are written as JSON are short. */
const JSON_ENTRIES = 200

/** Writes JSON in slices, and lets other requests run in between. The result is that of JSON.stringify. */
export async function stringifyInSlices(value: unknown): Promise<Buffer> {
  const endSlice = cutIntoSlices()
  const parts: Buffer[] = []
  const add = async (text: string | Buffer) => {
    parts.push(typeof text === 'string' ? Buffer.from(text) : text)
    const pause = endSlice()
    if (pause) await pause
  }
  const addList = async (list: Iterable<unknown>) => {
    let separator = '['
    for (const text of textsOf(list)) {
      parts.push(Buffer.from(separator))
      await add(text)
      separator = ','
    }
    await add(separator === '[' ? '[]' : ']')
  }
  const addFields = async (fields: Record<string, unknown>) => {
    let separator = '{'
    for (const [name, field] of Object.entries(fields)) {
      if (field === undefined) continue
      await add(`${separator}${JSON.stringify(name)}:`)
      separator = ','
      await addValue(field)
    }
    await add(separator === '{' ? '{}' : '}')
  }
  const addValue = async (item: unknown): Promise<void> => {
    if (Array.isArray(item) && item.some(hasLongList)) {
      for (const [i, entry] of item.entries()) {
        await add(i ? ',' : '[')
        await addValue(entry)
      }
      return add(']')
    }
    if (isLong(item)) return addList(item)
    return isPlain(item) ? addFields(item) : add(JSON.stringify(item) ?? 'null')
  }
  await addValue(value)
  return Buffer.concat(parts)
}

function* textsOf(list: Iterable<unknown>) {
  if (writesJson(list)) yield* jsonEntries(list, JSON_ENTRIES)
  else for (const entries of partsOf(list, ENTRIES)) yield JSON.stringify(entries).slice(1, -1)
}

const isLong = (value: unknown): value is Iterable<unknown> => isLongList(value) || (Array.isArray(value) && value.length > ENTRIES)

const hasLongList = (value: unknown) => isPlain(value) && Object.values(value).some(isLong)
