import { hasWords } from '../../contract/common.ts'
import type { CriticalAcknowledgment } from '../../contract/labs/order-results.ts'
import { invalid, problem } from '../../platform/problem.ts'

export type Reviewer = { name: string; reference: string; role: string | null }

/** The encrypted part of the record. */
export type AcknowledgmentDocument = { reviewer: Reviewer; note: string | null }

export type NewAcknowledgment = Partial<CriticalAcknowledgment>

/** Refuses an acknowledgment without a reviewer or a version. Gap 367: a key names the reviewer, and the console knows them. */
export function checkComplete(
  { console }: { console?: { kind: string } | undefined },
  { reviewer, note, result_version }: NewAcknowledgment,
) {
  if (!console && !reviewer)
    throw problem('REVIEWER_REQUIRED', 'Send `reviewer` with the name and your own reference of the person who has read the result.')
  if (console && console.kind !== 'person')
    throw problem('PERSON_REQUIRED', 'A key names no person. Sign in to the console with your own account to acknowledge the result.')
  if (console && reviewer) throw invalid(['body', 'reviewer'], 'You are the reviewer, because you signed in. Omit this field.')
  if (console && !hasWords(note)) throw problem('NOTE_REQUIRED', 'Name the person who was informed in `note`.')
  if (!result_version)
    throw problem('RESULT_VERSION_REQUIRED', 'Send `result_version`: metadata.result_version of the results that the reviewer has read.')
  return result_version
}

/** Gap 368: nobody acknowledges a newer report unseen, even if it changes nothing critical. */
export function checkVersion(result_version: number, latest: number) {
  if (result_version < latest)
    throw problem('RESULT_VERSION_OUTDATED', 'The lab has sent a newer report. Read the results again, and send their result_version.', {
      result_version: latest,
    })
  if (result_version > latest) throw invalid(['body', 'result_version'], `The order has no such report. Its latest is ${latest}.`)
}
