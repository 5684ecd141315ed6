import type { Message } from '../codec/rules-message.ts'
import { type ErrorCode, errorCodes } from '../codec/rules-problems.ts'
import { fieldOf, partOf, readValue, segmentOf, segmentsOf } from '../codec/rules-read.ts'
import { formatTime } from '../codec/rules-time.ts'
import { message, segment } from '../codec/rules-write.ts'
import { hasStructures, isSince25 } from './rules-header.ts'

/** AA, AE and AR answer the content. CA, CE and CR say whether a message was stored. */
export const acknowledgmentCodes = ['AA', 'AE', 'AR', 'CA', 'CE', 'CR'] as const
export type AcknowledgmentCode = (typeof acknowledgmentCodes)[number]

export type Acknowledgment = {
  code: AcknowledgmentCode
  control_id: string
  sent_at: string
  /** The reason of a rejection: a code of table 0357, and a sentence without health data. */
  problem?: { code: string; text: string } | undefined
}

/** AR for what the receiver does not process, AE for an error in the content. */
export type Verdict = { code: 'AA' | 'AE' | 'AR'; problem?: { code: string; text: string } }

export const refuse = (code: 'AE' | 'AR', error: ErrorCode, text: string): Verdict => ({ code, problem: { code: errorCodes[error], text } })

/** Acknowledges a message with its own delimiters and version. Sender and receiver change places. */
export function acknowledge(received: Message, { code, control_id, sent_at, problem }: Acknowledgment): Message {
  const header = segmentOf(received, 'MSH')
  const version = readValue(header, 12) || '2.3'
  const event = readValue(header, 9, 2)
  const { segments, delimiters } = message(
    received.delimiters,
    {
      7: formatTime(sent_at, 'UTC', { precision: 'second', offset: true }),
      9: hasStructures(version) ? ['ACK', event, 'ACK'] : ['ACK', event],
      10: control_id,
      11: readValue(header, 11) || 'P',
      12: version,
    },
    [
      segment('MSA', { 1: code, 2: readValue(header, 10), 3: problem?.text.slice(0, 80) }),
      ...(problem ? [errorSegment(version, problem)] : []),
    ],
  )
  const [first, ...rest] = segments as [Message['segments'][number], ...Message['segments']]
  const fields = first.fields
    .with(2, fieldOf(header, 5))
    .with(3, fieldOf(header, 6))
    .with(4, fieldOf(header, 3))
    .with(5, fieldOf(header, 4))
  return { delimiters, segments: [{ ...first, fields }, ...rest] }
}

/** Until 2.4, ERR-1 has the code and its text. */
const errorSegment = (version: string, { code, text }: { code: string; text: string }) =>
  isSince25(version)
    ? segment('ERR', { 3: [code, null, 'HL70357'], 4: 'E', 8: text })
    : segment('ERR', { 1: [null, null, null, [code, text, 'HL70357']] })

export type ReceivedAcknowledgment = {
  code: AcknowledgmentCode
  /** MSH-10 of the message that it answers. */
  control_id: string
  text: string | null
  error_codes: string[]
  /** ORC-1 of an answer that has one: OK or UA to an order, OC, CR or UC to a cancellation. Of several, one that refuses counts. */
  order_control: string | null
  /** ORC-3: the lab's own numbers of the order. */
  filler_numbers: string[]
}

/** Reads an acknowledgment: ACK, or a response to an order such as ORR^O02 and ORL^O22. Undefined for any other message. */
export function readAcknowledgment(received: Message): ReceivedAcknowledgment | undefined {
  const msa = segmentOf(received, 'MSA')
  const code = acknowledgmentCodes.find((code) => code === readValue(msa, 1))
  if (!code) return undefined
  const controls = segmentsOf(received, 'ORC')
  const orc = controls.find((orc) => refusals.includes(readValue(orc, 1))) ?? controls[0]
  const errors = segmentsOf(received, 'ERR')
  return {
    code,
    control_id: readValue(msa, 2),
    text: readValue(msa, 3) || errors.map((error) => readValue(error, 8) || readValue(error, 1, 4, 2)).find(Boolean) || null,
    error_codes: errors
      .flatMap((error) => [readValue(error, 3), ...fieldOf(error, 1).map((location) => partOf(location, 4))])
      .filter((code) => Object.values<string>(errorCodes).includes(code)),
    order_control: readValue(orc, 1) || null,
    filler_numbers: controls.map((control) => readValue(control, 3)).filter(Boolean),
  }
}

/** Unable to accept an order, and unable to cancel it. */
export const refusals = ['UA', 'UC']

/** The acknowledgment of the message with this control ID. An answer to another message is not one. */
export function findAcknowledgment(received: Message | undefined, control_id: string) {
  const acknowledgment = received && readAcknowledgment(received)
  return acknowledgment?.control_id === control_id ? acknowledgment : undefined
}
