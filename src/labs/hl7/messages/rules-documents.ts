import { mediaTypeOf, signedTypeOf } from '../../../contract/labs/result-documents.ts'
import type { Message, Repetition, Segment } from '../codec/rules-message.ts'
import { fieldOf, partOf, readValue, segmentsOf } from '../codec/rules-read.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { observationStatusOf } from './rules-statuses.ts'

export type EmbeddedDocument = { name: string | null; bytes: Buffer }

/**
 * The documents of a message in any format, without those that the lab deleted or withdrew. Labs split one over repetitions or several
 * OBX with the same code, and break its lines.
 */
export function readDocuments(message: Message, { results }: Pick<Profile, 'results'>): EmbeddedDocument[] {
  const zefs = results.pdf_in.includes('ZEF') ? segmentsOf(message, 'ZEF') : []
  const filed = segmentsOf(message, 'OBX').filter((obx) => isDocument(obx) && !isWithdrawn(obx))
  const parts = [...filed.map(partInObx), ...zefs.map(partInZef)]
  const byCode = Map.groupBy(parts, ({ code }) => code)
  return [...byCode.values()]
    .flatMap(joinParts)
    .map((part) => ({ name: part.name, bytes: decode(part) }))
    .filter(({ bytes }) => bytes.length)
}

export const isDocument = (obx: Segment) => readValue(obx, 2).toUpperCase() === 'ED'

/** Whether the lab deleted the document or, because it belongs to another patient, withdrew it. */
export const isWithdrawn = (obx: Segment) => ['deleted', 'wrong_patient'].includes(observationStatusOf(readValue(obx, 11)))

/** `format` has the type, the subtype and the encoding: OBX-5.2 to OBX-5.4. */
type Part = { code: string; name: string | null; format: string[]; data: string }

const partInObx = (obx: Segment): Part => ({
  code: readValue(obx, 3),
  name: readValue(obx, 3, 2) || null,
  format: [2, 3, 4].map((component) => readValue(obx, 5, component).toLowerCase()),
  data: fieldOf(obx, 5).map(dataIn).join(''),
})

const partInZef = (zef: Segment): Part => ({ code: 'ZEF', name: null, format: ['', '', 'base64'], data: readValue(zef, 2) })

/** A repetition that continues the one before can be without source, type and encoding. */
const dataIn = (repetition: Repetition) => partOf(repetition, repetition.length === 1 ? 1 : 5)

/** A part with a signature or of another format begins another document, and so does one after the padding of base64. */
function joinParts(parts: Part[]): Part[] {
  const documents: Part[][] = []
  for (const part of parts) {
    const document = documents.at(-1)
    const [first, last] = [document?.[0], document?.at(-1)]
    if (first && last && !last.data.endsWith('=') && isSameFormat(first, part) && !isSigned(part)) document?.push(part)
    else documents.push([part])
  }
  return documents.map((joined) => ({ ...(joined[0] as Part), data: joined.map(({ data }) => data).join('') }))
}

const isSameFormat = (a: Part, b: Part) => a.format.every((value, i) => !value || !b.format[i] || value === b.format[i])

function isSigned({ format: [, , encoding], data }: Part) {
  const start = data.slice(0, SIGNED_CHARACTERS)
  return signedTypeOf(Buffer.from(start)) ?? signedTypeOf(Buffer.from(start, encoding === 'hex' ? 'hex' : 'base64'))
}

const SIGNED_CHARACTERS = 64

/** Data that is not in its encoding is text. */
function decode({ format: [, , encoding], data }: Part): Buffer {
  if (encoding === 'a' || !data) return Buffer.from(data)
  if (encoding === 'hex') return decodeHex(data) ?? Buffer.from(data)
  const bytes = decodeBase64(data)
  return bytes && (encoding === 'base64' || isLikelyDocument(bytes)) ? bytes : Buffer.from(data)
}

/** The lines of the data as one. A line has no spaces inside. */
const joinLines = (data: string) =>
  data
    .split('\n')
    .map((line) => line.trim())
    .join('')

/** Node stops at what is not hexadecimal. */
function decodeHex(data: string) {
  const digits = joinLines(data)
  const bytes = Buffer.from(digits, 'hex')
  return bytes.length * 2 === digits.length ? bytes : undefined
}

/** Node skips what is not base64, and accepts other alphabets. A pattern would take too long for large documents. */
function decodeBase64(data: string) {
  const text = joinLines(data)
  const bytes = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='))
  const isWhole = bytes.length === (text.length / 4) * 3 - padding
  return isWhole && Buffer.byteLength(text) === text.length && !text.includes('-') && !text.includes('_') ? bytes : undefined
}

const MIN_TEXT_BYTES = 12

/** Without an encoding, a word can look like base64. Few words decode to text. */
const isLikelyDocument = (bytes: Buffer) =>
  signedTypeOf(bytes) !== undefined || (bytes.length >= MIN_TEXT_BYTES && mediaTypeOf(bytes) === 'text/plain; charset=utf-8')
