import { decodeBytes, encodeText } from '../codec/rules-charset.ts'
import { formatMessage, type Message, parseMessage } from '../codec/rules-message.ts'
import { readValue, segmentOf } from '../codec/rules-read.ts'
import { type ReceivedAcknowledgment, readAcknowledgment } from '../messages/rules-acknowledgment.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { exchange, type MllpAddress } from './client.ts'

const segmentEnds = { CR: '\r', CRLF: '\r\n', LF: '\n' }

export type Trial = { control_id: string; code: string; order_control: string | null; text: string | null }

/** Sends messages to a lab, one after another, and returns the first acknowledgment of each. */
export async function sendTrial(profile: Profile, address: MllpAddress, messages: Message[], timeoutMs: number): Promise<Trial[]> {
  const trials: Trial[] = []
  for (const message of messages) {
    const control_id = readValue(segmentOf(message, 'MSH'), 10)
    const bytes = encodeText(formatMessage(message, segmentEnds[profile.message.segment_end]), profile.message.charset)
    const acknowledgmentIn = (answer: Buffer) => findAcknowledgment(profile, answer, control_id)
    const answers = await exchange(address, bytes, { timeoutMs, isLast: (answer) => acknowledgmentIn(answer) !== undefined })
    const { code, order_control, text } = answers.flatMap((answer) => acknowledgmentIn(answer) ?? [])[0] as ReceivedAcknowledgment
    trials.push({ control_id, code, order_control, text })
  }
  return trials
}

/** The acknowledgment of this message. An answer to another message is not one, nor is text that is not HL7. */
function findAcknowledgment(profile: Profile, answer: Buffer, control_id: string) {
  try {
    const { text, charset } = decodeBytes(answer, profile.message.charset)
    const acknowledgment = readAcknowledgment(parseMessage(text, charset))
    return acknowledgment?.control_id === control_id ? acknowledgment : undefined
  } catch {
    return undefined
  }
}
