import type { Message } from '../codec/rules-message.ts'
import { readValue, segmentOf } from '../codec/rules-read.ts'
import { findAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { decodeOrUndefined, encodeMessage } from '../messages/rules-bytes.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { connectMllp, type MllpAddress } from './client.ts'

export type Trial = { control_id: string; code: string; order_control: string | null; text: string | null }

/** Sends messages to a lab, one after another, and returns the first acknowledgment of each. */
export async function sendTrial(profile: Profile, address: MllpAddress, messages: Message[], timeoutMs: number): Promise<Trial[]> {
  const trials: Trial[] = []
  for (const message of messages) trials.push(await sendOne(profile, address, message, timeoutMs))
  return trials
}

async function sendOne(profile: Profile, address: MllpAddress, message: Message, timeoutMs: number): Promise<Trial> {
  const control_id = readValue(segmentOf(message, 'MSH'), 10)
  const acknowledgmentIn = (answer: Buffer) => findAcknowledgment(decodeOrUndefined(profile, answer), control_id)
  const connection = connectMllp(address)
  try {
    const answer = await connection.send(encodeMessage(profile, message), { timeoutMs, isAnswer: (one) => !!acknowledgmentIn(one) })
    const { code = '', order_control = null, text = null } = acknowledgmentIn(answer) ?? {}
    return { control_id, code, order_control, text }
  } finally {
    connection.close()
  }
}
