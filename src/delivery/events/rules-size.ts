/** What the envelope puts around `client_user_id` and `data` at most: a type, three ids, a moment and their names. */
const ENVELOPE = 512
const MOST_SAMPLES = 2500
/** Two more fields of a batch, with their numbers. */
const CHUNK = 64
/** The longest client_user_id, written in escapes. */
const CLIENT = 2048

/** What is left for `client_user_id` and `data` of a message of so many kB. */
export const roomIn = (kb: number) => kb * 1024 - ENVELOPE

type Batch<S> = { data: S[] }
export type Chunk<B> = B & { chunk_index: number; total_chunks: number }

/**
 * A batch of samples as batches that can each be told, and used, on its own: all that is said about the samples stands in every one.
 * A sample that is too large for a message is alone in its chunk.
 */
export function chunks<S, B extends Batch<S>>(batch: B, kb: number): Chunk<B>[] {
  const all = roomIn(kb) - CLIENT - CHUNK
  // Measuring a batch at once takes half as long as measuring its samples.
  if (batch.data.length <= MOST_SAMPLES && batch.data.length > 0 && bytesOf(batch) <= all)
    return [{ ...batch, chunk_index: 0, total_chunks: 1 }]
  const room = all - bytesOf({ ...batch, data: [] })
  const parts: S[][] = []
  let used = 0
  for (const sample of batch.data) {
    const bytes = bytesOf(sample) + 1
    const last = parts.at(-1)
    if (last && last.length < MOST_SAMPLES && used + bytes <= room) {
      last.push(sample)
      used += bytes
    } else {
      parts.push([sample])
      used = bytes
    }
  }
  return parts.map((data, chunk_index) => ({ ...batch, data, chunk_index, total_chunks: parts.length }))
}

type Fitted = { client_user_id: string | null; data: unknown; left_out?: string[] }

/**
 * What is too large to be told keeps its shape: its largest lists and texts are emptied, one after the other, until it fits, and are named.
 * Whoever needs them reads the resource.
 */
export function fitting({ client_user_id, data }: Omit<Fitted, 'left_out'>, room: number): Fitted {
  let fitted: Fitted = { client_user_id, data }
  for (const { path } of partsOf(data).sort((a, b) => b.bytes - a.bytes)) {
    if (bytesOf(fitted) <= room) break
    fitted = { ...fitted, data: emptied(fitted.data, path), left_out: [...(fitted.left_out ?? []), ['data', ...path].join('.')] }
  }
  if (bytesOf(fitted) > room) throw new Error(`An event of ${bytesOf(fitted)} bytes has nothing that could be left out.`)
  return fitted
}

type Part = { path: string[]; bytes: number }

/** Lists and texts wherever they stand in objects; a list is one part. */
function partsOf(value: unknown, path: string[] = []): Part[] {
  if (typeof value === 'string' || Array.isArray(value)) return [{ path, bytes: bytesOf(value) }]
  return isObject(value) ? Object.entries(value).flatMap(([name, part]) => partsOf(part, [...path, name])) : []
}

function emptied(value: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined || !isObject(value)) return typeof value === 'string' ? '' : []
  return { ...value, [name]: emptied(value[name], rest) }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '')
