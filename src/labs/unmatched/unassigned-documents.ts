import type { App } from '../../platform/app.ts'
import { openLarge, sealLarge } from '../../platform/sealing/large.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { deploymentSealingKey } from '../../platform/sealing/vault.ts'
import { numbersOf } from '../matching/rules-match.ts'
import type { StoredResults } from './documents.ts'
import type { Unmatched } from './queue.ts'
import { UNASSIGNED_KEY } from './tables.ts'

/** A result without a team. The profile goes with the report, so that a team that gets it later finds its candidates. */
export type UnassignedDocument = Omit<Unmatched, 'received' | 'message_ref'> & { received: StoredResults }

/** The part of it that the operator sees, and the order numbers to look for. */
type UnassignedSummary = { account: string | null; number: string | null; numbers: string[] }

type Column = 'sealed' | 'documents_sealed' | 'summary_sealed'

const associatedData = (column: Column, id: string) => `unassigned_results.${column}.${id}`

const sealColumn = (app: App, column: Column, id: string, document: unknown) =>
  seal(deploymentSealingKey(app, UNASSIGNED_KEY), associatedData(column, id), document)

const openColumn = <T>(app: App, column: Column, id: string, sealed: Buffer) =>
  open<T>(deploymentSealingKey(app, UNASSIGNED_KEY, sealed), associatedData(column, id), sealed)

/** The columns of a result and of its summary. A report is stored without anything besides its account and its patient. */
export function sealUnassigned(app: App, id: string, { lab, report, number, received }: UnassignedDocument) {
  const { account, patient } = report
  const document: UnassignedDocument = { lab, report: { account, patient }, number, received }
  const summary: UnassignedSummary = { account, number, numbers: number ? numbersOf(number, lab.profile) : [] }
  return { sealed: sealColumn(app, 'sealed', id, document), summary_sealed: sealColumn(app, 'summary_sealed', id, summary) }
}

export const sealUnassignedPdfs = async (app: App, id: string, pdfs: Buffer | null) =>
  pdfs && sealLarge(deploymentSealingKey(app, UNASSIGNED_KEY), associatedData('documents_sealed', id), pdfs)

export const openUnassigned = (app: App, id: string, sealed: Buffer) => openColumn<UnassignedDocument>(app, 'sealed', id, sealed)

export const openUnassignedPdfs = async (app: App, id: string, sealed: Buffer | undefined) =>
  sealed ? openLarge(deploymentSealingKey(app, UNASSIGNED_KEY, sealed), associatedData('documents_sealed', id), sealed) : null

export const openSummary = (app: App, id: string, sealed: Buffer) => openColumn<UnassignedSummary>(app, 'summary_sealed', id, sealed)
