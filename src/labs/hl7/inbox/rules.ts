import type { Message } from '../codec/rules-message.ts'
import { readValue, segmentOf } from '../codec/rules-read.ts'
import { type AcknowledgmentCode, acknowledge, refuse, type Verdict } from '../messages/rules-acknowledgment.ts'
import { isDocument } from '../messages/rules-documents.ts'

/** Results, answers to orders, and messages about the status of an order. */
const messageTypes = ['ORU^R01', 'ORM^O01', 'OML^O21', 'OSU^O51', 'OSU^O41', 'ORR^O02', 'ORL^O22']
const MAX_CONTROL_ID = 199

/** What triggered an acknowledgment does not matter, and its sender can write anything there. */
export const typeOf = (message: Message) => {
  const header = segmentOf(message, 'MSH')
  if (readValue(header, 9) === 'ACK') return 'ACK'
  return [readValue(header, 9), readValue(header, 9, 2)].filter(Boolean).join('^')
}

export const controlIdOf = (message: Message) => readValue(segmentOf(message, 'MSH'), 10)

function judgeHeader(message: Message, processing_id: 'P' | 'T'): Verdict {
  const header = segmentOf(message, 'MSH')
  const control_id = controlIdOf(message)
  if (readValue(header, 11) !== processing_id) return refuse('AR', 'processingId', `MSH-11 must be ${processing_id}.`)
  if (!/^2\.[1-8]/.test(readValue(header, 12))) return refuse('AR', 'version', 'MSH-12 must be a version of HL7 v2.')
  if (!['ACK', ...messageTypes].includes(typeOf(message)))
    return refuse('AR', 'messageType', `MSH-9 must be ACK or one of ${messageTypes.join(', ')}.`)
  if (!control_id || control_id.length > MAX_CONTROL_ID)
    return refuse('AE', 'required', `MSH-10 must have 1 to ${MAX_CONTROL_ID} characters.`)
  // PostgreSQL cannot store NUL.
  if (/\p{Cc}/u.test(control_id)) return refuse('AE', 'dataType', 'MSH-10 must not contain control characters.')
  return { code: 'AA' }
}

/** Text besides embedded documents. Results with more would take too long to store. */
export const MAX_TEXT = 2 * 1024 * 1024

/** Judges a message before it is stored. */
export function judgeMessage(message: Message, processing_id: 'P' | 'T'): Verdict {
  const verdict = judgeHeader(message, processing_id)
  if (verdict.problem || textLength(message) <= MAX_TEXT) return verdict
  return refuse('AE', 'tooLong', `Besides documents in OBX-5 (ED), the message has more than ${MAX_TEXT} characters.`)
}

const textLength = ({ segments }: Message) =>
  segments
    .filter((segment) => segment.name !== 'ZEF' && !(segment.name === 'OBX' && isDocument(segment)))
    .flatMap(({ fields }) => fields.flat(3))
    .reduce((sum, text) => sum + text.length, 0)

type Receipt = { verdict: Verdict; sent_at: string; controlId(): string }

/**
 * The acknowledgments of a message as its sender wants them: one, or in enhanced mode a commit acknowledgment and, for a message
 * that was stored, one of the application. An acknowledgment is acknowledged only on request.
 */
export function receiptsFor(message: Message, { verdict, sent_at, controlId }: Receipt): Message[] {
  const header = segmentOf(message, 'MSH')
  const [accept, application] = [readValue(header, 15), readValue(header, 16)]
  const answer = (code: AcknowledgmentCode) => acknowledge(message, { code, control_id: controlId(), sent_at, problem: verdict.problem })
  if (!accept && !application) return segmentOf(message, 'MSA') ? [] : [answer(verdict.code)]
  const wants = (mode: string) => mode === 'AL' || mode === (verdict.problem ? 'ER' : 'SU')
  const commits = wants(accept) ? [answer(commitCodes[verdict.code])] : []
  return [...commits, ...(wants(application) && !(verdict.problem && commits.length) ? [answer(verdict.code)] : [])]
}

const commitCodes = { AA: 'CA', AE: 'CE', AR: 'CR' } as const
