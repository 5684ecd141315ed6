import { open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import type { OrderResults } from '../hl7/filing/rules-report.ts'
import type { ReportedPatient } from '../hl7/messages/rules-results.ts'
import type { Candidate } from './rules-candidates.ts'

/** The encrypted part of a review. */
export type ReviewDocument = {
  patient: ReportedPatient
  account: string | null
  number: string | null
  received: ReturnType<typeof storedResults>
  candidates: Candidate[]
  note: string | null
}

/** Results as JSON: PDFs as text. */
export const storedResults = (received: OrderResults) => ({
  ...received,
  groups: received.groups.map(({ documents, ...group }) => ({
    ...group,
    documents: documents.map(({ name, bytes }) => ({ name, pdf: bytes.toString('base64') })),
  })),
})

export const restoredResults = (stored: ReturnType<typeof storedResults>): OrderResults => ({
  ...stored,
  groups: stored.groups.map(({ documents, ...group }) => ({
    ...group,
    documents: documents.map(({ name, pdf }) => ({ name, bytes: Buffer.from(pdf, 'base64') })),
  })),
})

const associatedData = (id: string) => `unmatched_results.sealed.${id}`

export const sealReview = (key: SealingKey, id: string, document: ReviewDocument) => seal(key, associatedData(id), document)

export const openReview = (key: SealingKey, id: string, sealed: Buffer) => open<ReviewDocument>(key, associatedData(id), sealed)
