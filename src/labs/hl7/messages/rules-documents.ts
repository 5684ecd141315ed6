import type { Message, Segment } from '../codec/rules-message.ts'
import { fieldOf, partOf, readValue, segmentsOf } from '../codec/rules-read.ts'
import type { Profile } from '../profiles/rules-profile.ts'

export type EmbeddedDocument = { name: string | null; bytes: Buffer }

/** The PDFs of a message. Labs split one over repetitions or several OBX with the same code, and break its lines. */
export function readDocuments(message: Message, { results }: Pick<Profile, 'results'>): EmbeddedDocument[] {
  const inObservations = results.pdf_in.includes('OBX') ? segmentsOf(message, 'OBX').filter(isDocument) : []
  const byCode = Map.groupBy(inObservations, (obx) => readValue(obx, 3))
  const encoded = [...byCode.values()].map((parts) => ({
    name: readValue(parts[0], 3, 2) || null,
    encoding: readValue(parts[0], 5, 4).toLowerCase(),
    data: parts.flatMap((obx) => fieldOf(obx, 5).map((repetition) => partOf(repetition, 5))).join(''),
  }))
  const inZef = results.pdf_in.includes('ZEF')
    ? segmentsOf(message, 'ZEF').map((zef) => ({ name: null, encoding: 'base64', data: readValue(zef, 2) }))
    : []
  return [...encoded, ...inZef].flatMap(({ name, encoding, data }) => {
    const bytes = encoding === 'hex' ? Buffer.from(data.replace(/\s/g, ''), 'hex') : Buffer.from(data, 'base64')
    return bytes.subarray(0, 4).toString('latin1') === '%PDF' ? [{ name, bytes }] : []
  })
}

export const isDocument = (obx: Segment) => readValue(obx, 2).toUpperCase() === 'ED'
