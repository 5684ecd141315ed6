import { signedTypeOf } from '../../../contract/labs/result-documents.ts'
import type { Message, Repetition, Segment } from '../codec/rules-message.ts'
import { fieldOf, partOf, readValue, segmentsOf } from '../codec/rules-read.ts'
import type { Profile } from '../profiles/rules-profile.ts'

export type EmbeddedDocument = { name: string | null; bytes: Buffer }

/** The documents of a message in any format. Labs split one over repetitions or several OBX with the same code, and break its lines. */
export function readDocuments(message: Message, { results }: Pick<Profile, 'results'>): EmbeddedDocument[] {
  const zefs = results.pdf_in.includes('ZEF') ? segmentsOf(message, 'ZEF') : []
  const parts = [...segmentsOf(message, 'OBX').filter(isDocument).map(partInObx), ...zefs.map(partInZef)]
  const byCode = Map.groupBy(parts, ({ code }) => code)
  return [...byCode.values()]
    .flatMap(joinParts)
    .map((part) => ({ name: part.name, bytes: decode(part) }))
    .filter(({ bytes }) => bytes.length)
}

export const isDocument = (obx: Segment) => readValue(obx, 2).toUpperCase() === 'ED'

type Part = { code: string; name: string | null; encoding: string; data: string }

const partInObx = (obx: Segment): Part => ({
  code: readValue(obx, 3),
  name: readValue(obx, 3, 2) || null,
  encoding: readValue(obx, 5, 4).toLowerCase(),
  data: fieldOf(obx, 5).map(dataIn).join(''),
})

const partInZef = (zef: Segment): Part => ({ code: 'ZEF', name: null, encoding: 'base64', data: readValue(zef, 2) })

/** A repetition that continues the one before can be without source, type and encoding. */
const dataIn = (repetition: Repetition) => partOf(repetition, repetition.length === 1 ? 1 : 5)

/** A part with a signature begins another document, and so does one after the padding of base64. */
function joinParts(parts: Part[]): Part[] {
  const documents: Part[][] = []
  for (const part of parts) {
    const previous = documents.at(-1)?.at(-1)
    const continues = previous && !previous.data.endsWith('=') && !signedTypeOf(decode({ ...part, data: part.data.slice(0, 64) }))
    if (continues) documents.at(-1)?.push(part)
    else documents.push([part])
  }
  return documents.map((joined) => ({ ...(joined[0] as Part), data: joined.map(({ data }) => data).join('') }))
}

/** Text without an encoding, or one that is not what it says, is kept as it is. */
function decode({ encoding, data }: Pick<Part, 'encoding' | 'data'>): Buffer {
  if (encoding === 'hex') return orText(Buffer.from(data.replace(/\s/g, ''), 'hex'), data)
  const isBase64 = encoding === 'base64' || (encoding !== 'a' && /^[A-Za-z0-9+/=\s]*$/.test(data))
  return isBase64 ? orText(Buffer.from(data, 'base64'), data) : Buffer.from(data)
}

const orText = (bytes: Buffer, data: string) => (bytes.length ? bytes : Buffer.from(data))
