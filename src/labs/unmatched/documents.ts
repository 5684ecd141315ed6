import { mediaTypeOf } from '../../contract/labs/result-documents.ts'
import { openLarge, sealLarge } from '../../platform/sealing/large.ts'
import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { cutIntoSlices } from '../../platform/shares/slices.ts'
import type { ReportedPatient } from '../hl7/messages/rules-results.ts'
import type { OrderResults } from '../matching/rules-report.ts'
import type { Candidate } from './rules-candidates.ts'

/** The encrypted part of a review. */
export type ReviewDocument = {
  patient: ReportedPatient
  account: string | null
  number: string | null
  received: StoredResults
  candidates: Candidate[]
  note: string | null
}

export type StoredResults = ReturnType<typeof storedResults>

/** Results as JSON, with the media types of their documents instead of the bytes. */
export const storedResults = (received: OrderResults) => ({
  ...received,
  groups: received.groups.map(({ documents, ...group }) => ({
    ...group,
    documents: documents.map(({ name, bytes }) => ({ name, media_type: mediaTypeOf(bytes) })),
  })),
})

/** A process of an earlier version stores no media types. */
export const listDocuments = ({ groups }: StoredResults) =>
  groups
    .flatMap(({ documents }) => documents)
    .map(({ media_type = 'application/octet-stream' }: { media_type?: string }, i) => ({ document: i + 1, media_type }))

/** A multiple of three bytes, so that base64 of the pieces is that of the whole. */
const PIECE_BYTES = 3 * 64 * 1024

/**
 * The PDFs of each group as JSON, or null if there is none. They are stored apart, because they are large and only a person
 * who opens one or accepts the result needs them. JSON.stringify would hold the event loop.
 */
export async function storedPdfs({ groups }: OrderResults): Promise<Buffer | null> {
  if (!groups.some(({ documents }) => documents.length)) return null
  const endSlice = cutIntoSlices()
  const pieces: string[] = []
  for (const [i, { documents }] of groups.entries()) {
    pieces.push(i ? ',[' : '[')
    for (const [n, { bytes }] of documents.entries()) {
      pieces.push(n ? ',"' : '"')
      for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
        pieces.push(bytes.toString('base64', from, from + PIECE_BYTES))
        await endSlice()
      }
      pieces.push('"')
    }
    pieces.push(']')
  }
  return Buffer.from(`[${pieces.join('')}]`, 'latin1')
}

export async function restoredResults(stored: StoredResults, pdfs: Buffer | null): Promise<OrderResults> {
  const endSlice = cutIntoSlices()
  const text = pdfs?.toString('latin1')
  await endSlice()
  const encoded: string[][] = text ? JSON.parse(text) : []
  await endSlice()
  return {
    ...stored,
    groups: stored.groups.map(({ documents, ...group }, i) => ({
      ...group,
      documents: documents.map(({ name }, n) => ({ name, bytes: Buffer.from(encoded[i]?.[n] ?? '', 'base64') })),
    })),
  }
}

const associatedData = (id: string) => `unmatched_results.sealed.${id}`
const pdfAssociatedData = (id: string) => `unmatched_results.documents_sealed.${id}`

export const sealReview = (key: SealingKey, id: string, document: ReviewDocument) => seal(key, associatedData(id), document)

export const openReview = (key: SealingKey, id: string, sealed: Buffer) => open<ReviewDocument>(key, associatedData(id), sealed)

export const sealPdfs = async (key: SealingKey, id: string, pdfs: Buffer | null) => pdfs && sealLarge(key, pdfAssociatedData(id), pdfs)

export const openPdfs = async (key: SealingKey, id: string, sealed: Buffer | null) =>
  sealed && openLarge(key, pdfAssociatedData(id), sealed)
