import { createHash } from 'node:crypto'
import type { Segment } from '../codec/rules-message.ts'
import { fieldOf, segmentOf } from '../codec/rules-read.ts'
import { segment } from '../codec/rules-write.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { decodeMessage, encodeMessage } from './rules-bytes.ts'

/**
 * A file of messages that are already encoded, with the envelope of the profile. Sender, receiver, time and control ID are those
 * of the first message, so the same messages always give the same file.
 */
export function writeFile(profile: Profile, messages: Buffer[]): Buffer {
  const [first] = messages
  if (!first || profile.files.envelope === 'none') return Buffer.concat(messages)
  const { delimiters, ...message } = decodeMessage(profile, first)
  const msh = segmentOf(message, 'MSH')
  const header = (name: string): Segment => ({
    name,
    fields: Array.from({ length: 11 }, (_, i) => (i < 7 ? fieldOf(msh, i + 1) : i === 10 ? fieldOf(msh, 10) : [])),
  })
  const write = (one: Segment) => encodeMessage(profile, { delimiters, segments: [one] })
  const batch = [write(header('BHS')), ...messages, write(segment('BTS', { 1: String(messages.length) }))]
  if (profile.files.envelope === 'batch') return Buffer.concat(batch)
  return Buffer.concat([write(header('FHS')), ...batch, write(segment('FTS', { 1: '1' }))])
}

/** Part of the name of a file. The same content has the same name, so a file that is written again replaces itself. */
export const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex').slice(0, 8)
