import type { Message } from '../codec/rules-message.ts'
import { fieldOf, readValue, segmentOf, segmentsOf } from '../codec/rules-read.ts'
import { segment } from '../codec/rules-write.ts'
import { type AcknowledgmentCode, acknowledge, refuse, type Verdict } from '../messages/rules-acknowledgment.ts'
import { hasStructures } from '../messages/rules-header.ts'
import type { Profile } from '../profiles/rules-profile.ts'

/** Checks an order as a lab with this profile would: AR for what it does not process, AE for an error in the content. */
export function judgeOrder(message: Message, { version, order }: Profile): Verdict {
  const header = segmentOf(message, 'MSH')
  if (`${readValue(header, 9)}^${readValue(header, 9, 2)}` !== order.message_type)
    return refuse('AR', 'messageType', `MSH-9 must be ${order.message_type}.`)
  if (readValue(header, 11) !== 'T') return refuse('AR', 'processingId', 'MSH-11 must be T.')
  if (readValue(header, 12) !== version) return refuse('AR', 'version', `MSH-12 must be ${version}.`)
  const controls = segmentsOf(message, 'ORC')
  if (!segmentOf(message, 'PID')) return refuse('AE', 'sequence', 'PID is missing.')
  if (!controls.length || !controls.every((orc) => ['NW', 'CA'].includes(readValue(orc, 1)) && readValue(orc, 2)))
    return refuse('AE', 'required', 'ORC-1 must be NW or CA, and ORC-2 is required.')
  if (!segmentsOf(message, 'OBR').every((obr) => readValue(obr, 4) || readValue(obr, 4, 4)))
    return refuse('AE', 'required', 'OBR-4 is required.')
  return { code: 'AA' }
}

type Answering = { verdict: Verdict; sent_at: string; controlId(): string; refusesCancel?: boolean }

/** The answers to a message: one, or in enhanced mode an accept acknowledgment and then the application's, as MSH-15 and MSH-16 say. */
export function answersTo(message: Message, { verdict, sent_at, controlId, refusesCancel = false }: Answering): Message[] {
  const header = segmentOf(message, 'MSH')
  const [accept, application] = [readValue(header, 15), readValue(header, 16)]
  const answer = (code: AcknowledgmentCode) => acknowledge(message, { code, control_id: controlId(), sent_at, problem: verdict.problem })
  const applicationAnswer = () => withOrderControls(message, answer(verdict.code), verdict, refusesCancel ? 'UC' : 'CR')
  if (!accept && !application) return [applicationAnswer()]
  const wants = (mode: string) => mode === 'AL' || mode === (verdict.problem ? 'ER' : 'SU')
  return [
    ...(wants(accept) ? [acknowledge(message, { code: 'CA', control_id: controlId(), sent_at })] : []),
    ...(wants(application) ? [applicationAnswer()] : []),
  ]
}

const responses: Record<string, [string, string]> = { ORM: ['ORR', 'O02'], OML: ['ORL', 'O22'] }

/**
 * An accepted order is answered with ORR^O02 or ORL^O22: ORC-1 OK for each new order, and CR or UC for each cancellation. In
 * ORL^O22, the orders are below their patient.
 */
function withOrderControls(message: Message, answer: Message, { code }: Verdict, cancelControl: 'CR' | 'UC'): Message {
  const header = segmentOf(message, 'MSH')
  const response = responses[readValue(header, 9)]
  if (code !== 'AA' || !response) return answer
  const [type, event] = response
  const [msh, ...rest] = answer.segments as [Message['segments'][number], ...Message['segments']]
  const messageType = [type, event, ...(hasStructures(readValue(header, 12)) ? [`${type}_${event}`] : [])]
  const controls = segmentsOf(message, 'ORC').map((orc) =>
    segment('ORC', { 1: readValue(orc, 1) === 'CA' ? cancelControl : 'OK', 2: readValue(orc, 2), 3: `F${readValue(orc, 2)}` }),
  )
  const patient = type === 'ORL' ? segmentsOf(message, 'PID') : []
  // The name of the patient is in the character set of the order.
  const fields = Array.from({ length: 18 }, (_, i) => (i === 17 ? fieldOf(header, 18) : (msh.fields[i] ?? [])))
  const typed = { ...msh, fields: fields.with(8, [messageType.map((part) => [part])]) }
  return { ...answer, segments: [typed, ...rest, ...patient, ...controls] }
}
