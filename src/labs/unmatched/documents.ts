import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import type { OrderResults } from '../hl7/filing/rules-report.ts'
import type { ReportedPatient } from '../hl7/messages/rules-results.ts'
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

/** The PDFs of each group as text. They are stored apart, because they are large and only accepting a result needs them. */
export type StoredPdfs = string[][]

/** Results as JSON, without the bytes of their PDFs. */
export const storedResults = (received: OrderResults) => ({
  ...received,
  groups: received.groups.map(({ documents, ...group }) => ({ ...group, documents: documents.map(({ name }) => ({ name })) })),
})

/** Null if the results have no PDFs. */
export const storedPdfs = ({ groups }: OrderResults): StoredPdfs | null =>
  groups.some(({ documents }) => documents.length)
    ? groups.map(({ documents }) => documents.map(({ bytes }) => bytes.toString('base64')))
    : null

export const restoredResults = (stored: StoredResults, pdfs: StoredPdfs | null): OrderResults => ({
  ...stored,
  groups: stored.groups.map(({ documents, ...group }, i) => ({
    ...group,
    documents: documents.map(({ name }, n) => ({ name, bytes: Buffer.from(pdfs?.[i]?.[n] ?? '', 'base64') })),
  })),
})

const associatedData = (id: string) => `unmatched_results.sealed.${id}`
const pdfAssociatedData = (id: string) => `unmatched_results.documents_sealed.${id}`

export const sealReview = (key: SealingKey, id: string, document: ReviewDocument) => seal(key, associatedData(id), document)

export const openReview = (key: SealingKey, id: string, sealed: Buffer) => open<ReviewDocument>(key, associatedData(id), sealed)

export const sealPdfs = (key: SealingKey, id: string, pdfs: StoredPdfs | null) => pdfs && seal(key, pdfAssociatedData(id), pdfs)

export const openPdfs = (key: SealingKey, id: string, sealed: Buffer | null) =>
  sealed && open<StoredPdfs>(key, pdfAssociatedData(id), sealed)
