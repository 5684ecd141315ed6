/** The maximum size of the envelope around `client_user_id` and `data`: a type, three IDs, a time and the field names. */
const ENVELOPE_BYTES = 512
const MAX_SAMPLES = 2500
/** Measuring samples together takes half as long as measuring each. */
const GROUP = 250
/** The two extra fields of a chunk. */
const CHUNK_FIELDS_BYTES = 64
/** The longest client_user_id, fully escaped. */
const CLIENT_USER_ID_BYTES = 2048

/** The bytes left for `client_user_id` and `data` in a message of this many kB. */
export const payloadLimit = (kb: number) => kb * 1024 - ENVELOPE_BYTES

/**
 * Splits samples into chunks that are complete messages on their own: each repeats the fields of `frame`. A sample that is too large
 * for a message gets a chunk of its own. `write` returns the JSON of samples, separated by commas. The chunks are JSON texts, because
 * there are many samples.
 */
export function* splitIntoChunks<T>(frame: object, samples: T[], write: (samples: T[]) => string | Buffer, kb: number) {
  const head = JSON.stringify({ ...frame, data: [] }).slice(0, -2)
  const limit = payloadLimit(kb) - CLIENT_USER_ID_BYTES - CHUNK_FIELDS_BYTES - Buffer.byteLength(head) - 2
  const chunkOf = (list: string, index: number, total: number) => `${head}${list}],"chunk_index":${index},"total_chunks":${total}}`
  const parts: { texts: string[]; samples: number; bytes: number }[] = []
  /** Adds samples to the last chunk, or one of them to a new chunk. Returns false if they have to be added one by one. */
  const add = (group: T[]) => {
    const text = write(group).toString()
    const bytes = Buffer.byteLength(text) + 1
    let part = parts.at(-1)
    if (!part || part.samples + group.length > MAX_SAMPLES || part.bytes + bytes > limit) {
      if (group.length > 1 && (part || bytes > limit)) return false
      part = { texts: [], samples: 0, bytes: 0 }
      parts.push(part)
    }
    part.texts.push(text)
    part.samples += group.length
    part.bytes += bytes
    return true
  }
  for (let i = 0; i < samples.length; i += GROUP) {
    if (i) yield
    const group = samples.slice(i, i + GROUP)
    if (!add(group)) for (const sample of group) add([sample])
  }
  return parts.map(({ texts }, i) => chunkOf(texts.join(), i, parts.length))
}

type SizedPayload = { client_user_id: string | null; data: unknown; left_out?: string[] }

/**
 * Shrinks a payload that is too large without changing its shape: its largest lists and strings are emptied, one by one, until it fits.
 * `left_out` lists their names. Receivers that need them read the resource.
 */
export function shrinkToFit({ client_user_id, data }: Omit<SizedPayload, 'left_out'>, limit: number): SizedPayload {
  let payload: SizedPayload = { client_user_id, data }
  for (const { path } of partsOf(data).sort((a, b) => b.bytes - a.bytes)) {
    if (bytesOf(payload) <= limit) break
    payload = { ...payload, data: emptyAt(payload.data, path), left_out: [...(payload.left_out ?? []), ['data', ...path].join('.')] }
  }
  if (bytesOf(payload) > limit) throw new Error(`An event of ${bytesOf(payload)} bytes cannot be shrunk to fit the size limit.`)
  return payload
}

type Part = { path: string[]; bytes: number }

/** The lists and strings at any depth; a list is one part. */
function partsOf(value: unknown, path: string[] = []): Part[] {
  if (typeof value === 'string' || Array.isArray(value)) return [{ path, bytes: bytesOf(value) }]
  return isObject(value) ? Object.entries(value).flatMap(([name, part]) => partsOf(part, [...path, name])) : []
}

function emptyAt(value: unknown, [name, ...rest]: string[]): unknown {
  if (name === undefined || !isObject(value)) return typeof value === 'string' ? '' : []
  return { ...value, [name]: emptyAt(value[name], rest) }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '')
