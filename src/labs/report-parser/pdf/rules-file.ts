import { inflateSync } from 'node:zlib'
import { type Dictionary, isDictionary, isReference, newReader, type Value } from './rules-syntax.ts'

type PdfObject = { value: Value; stream?: Buffer }

/** The objects of a PDF file, and the values that they refer to. */
export type PdfFile = {
  /** The value, or the object that it refers to. */
  resolve(value: Value | undefined): Value | undefined
  /** The entry of a dictionary, resolved. */
  entry(dictionary: Value | undefined, name: string): Value | undefined
  /** The decoded bytes of a stream. Undefined for another encoding than Flate. */
  stream(value: Value | undefined): Buffer | undefined
  isEncrypted: boolean
  root: Value | undefined
}

const MAX_OBJECTS = 100_000
const MAX_STREAM_BYTES = 16 * 1024 * 1024
/** All streams of a file together, each as often as it is read, because a small file can contain many large ones. */
const MAX_TOTAL_BYTES = 64 * 1024 * 1024

/** Finds the objects by their headers instead of the cross-reference table, which damaged and hostile files get wrong. */
export function openPdf(bytes: Buffer): PdfFile | undefined {
  const text = bytes.toString('latin1')
  if (!text.slice(0, 1024).includes('%PDF-')) return undefined
  const objects = new Map<number, PdfObject>()
  const trailers: Dictionary[] = []
  const header = /(\d{1,10})\s+\d{1,5}\s+obj\b|\btrailer\b/g
  // The reader would read a string or comment that does not end, once per object.
  const streamStart = /[\0\s]*stream(\r\n|\s)/y
  for (let match = header.exec(text); match && objects.size < MAX_OBJECTS; match = header.exec(text)) {
    const reader = newReader(text, header.lastIndex)
    const value = reader.next()
    header.lastIndex = reader.position()
    if (match[1] === undefined) {
      if (isDictionary(value)) trailers.push(value)
      continue
    }
    const object: PdfObject = { value: value ?? null }
    streamStart.lastIndex = header.lastIndex
    if (isDictionary(value) && streamStart.test(text)) {
      header.lastIndex = endOfStream(text, streamStart.lastIndex, value.dictionary.get('/Length'))
      object.stream = bytes.subarray(streamStart.lastIndex, header.lastIndex)
    }
    objects.set(Number(match[1]), object)
  }
  return fileOf(objects, trailers)
}

function endOfStream(text: string, start: number, length: Value | undefined) {
  const declared = typeof length === 'number' ? start + length : -1
  if (declared >= start && /^\s*endstream/.test(text.slice(declared, declared + 20))) return declared
  const found = text.indexOf('endstream', start)
  return found < 0 ? text.length : found
}

function fileOf(objects: Map<number, PdfObject>, trailers: Dictionary[]): PdfFile {
  let decodedBytes = 0
  const objectOf = (value: Value | undefined) => (isReference(value) ? objects.get(value.ref) : undefined)
  const resolve = (value: Value | undefined) => (isReference(value) ? objects.get(value.ref)?.value : value)
  const entry = (dictionary: Value | undefined, name: string) => {
    const resolved = resolve(dictionary)
    return isDictionary(resolved) ? resolve(resolved.dictionary.get(name)) : undefined
  }
  const decode = ({ value, stream }: PdfObject) => {
    if (!stream || decodedBytes >= MAX_TOTAL_BYTES) return undefined
    const filter = entry(value, '/Filter') ?? []
    const [name, more] = Array.isArray(filter) ? filter : [filter]
    if (more !== undefined || (name !== undefined && name !== '/FlateDecode')) return undefined
    const decoded = name === undefined ? stream : inflate(stream)
    decodedBytes += decoded?.length ?? MAX_STREAM_BYTES
    return decoded
  }
  unpackObjects(objects, decode)
  const dictionaries = [...trailers, ...[...objects.values()].map(({ value }) => value).filter(isDictionary)]
  const withRoot = dictionaries.findLast(({ dictionary }) => dictionary.has('/Root'))
  return {
    resolve,
    entry,
    stream: (value) => {
      const object = objectOf(value)
      return object && decode(object)
    },
    isEncrypted: dictionaries.some(({ dictionary }) => dictionary.has('/Encrypt') && dictionary.has('/Root')),
    root: withRoot?.dictionary.get('/Root'),
  }
}

/** Adds the objects that are compressed together in object streams. */
function unpackObjects(objects: Map<number, PdfObject>, decode: (object: PdfObject) => Buffer | undefined) {
  for (const object of [...objects.values()]) {
    const { dictionary } = isDictionary(object.value) ? object.value : { dictionary: new Map<string, Value>() }
    const first = dictionary.get('/First')
    if (dictionary.get('/Type') !== '/ObjStm' || typeof first !== 'number') continue
    const text = decode(object)?.toString('latin1') ?? ''
    const index = newReader(text.slice(0, first))
    let end = first
    for (let id = index.next(); typeof id === 'number' && objects.size < MAX_OBJECTS; id = index.next()) {
      const offset = index.next()
      // Offsets increase, so an object that begins inside another is hostile.
      if (typeof offset !== 'number' || first + offset < end || objects.has(id)) continue
      const reader = newReader(text, first + offset)
      objects.set(id, { value: reader.next() ?? null })
      end = reader.position()
    }
  }
}

function inflate(bytes: Buffer) {
  try {
    return inflateSync(bytes, { maxOutputLength: MAX_STREAM_BYTES })
  } catch {
    return undefined
  }
}
