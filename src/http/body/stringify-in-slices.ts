import { cutIntoSlices } from '../../platform/shares/slices.ts'

/** The number of entries of a list that are written at once. */
const ENTRIES = 50

/** Writes JSON in slices, and lets other requests run in between. The result is that of JSON.stringify. */
export async function stringifyInSlices(value: unknown): Promise<Buffer> {
  const endSlice = cutIntoSlices()
  const parts: Buffer[] = []
  const add = async (text: string) => {
    parts.push(Buffer.from(text))
    const pause = endSlice()
    if (pause) await pause
  }
  const addList = async (list: unknown[]) => {
    for (let i = 0; i < list.length; i += ENTRIES) await add(`${i ? ',' : '['}${JSON.stringify(list.slice(i, i + ENTRIES)).slice(1, -1)}`)
    await add(']')
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
    if (Array.isArray(item) && item.length > ENTRIES) return addList(item)
    if (Array.isArray(item) && item.some(hasLongList)) {
      for (const [i, entry] of item.entries()) {
        await add(i ? ',' : '[')
        await addValue(entry)
      }
      return add(']')
    }
    return isPlain(item) ? addFields(item) : add(JSON.stringify(item) ?? 'null')
  }
  await addValue(value)
  return Buffer.concat(parts)
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value)

const hasLongList = (value: unknown) =>
  isPlain(value) && Object.values(value).some((field) => Array.isArray(field) && field.length > ENTRIES)
