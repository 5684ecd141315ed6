import { decodeBytes, encodeText } from '../codec/rules-charset.ts'
import { formatMessage, type Message, parseMessage } from '../codec/rules-message.ts'
import type { Profile } from '../profiles/rules-profile.ts'

const segmentEnds = { CR: '\r', CRLF: '\r\n', LF: '\n' }

/** The bytes of a message that goes to the lab. */
export const encodeMessage = ({ message: rules }: Profile, message: Message) =>
  encodeText(formatMessage(message, segmentEnds[rules.segment_end]), rules.charset)

/** Parses a message of the lab. */
export function decodeMessage({ message: rules }: Profile, bytes: Uint8Array): Message {
  const { text, charset } = decodeBytes(bytes, rules.charset)
  return parseMessage(text, charset)
}

/** The same, or undefined for bytes that are not HL7. */
export function decodeOrUndefined(profile: Profile, bytes: Uint8Array): Message | undefined {
  try {
    return decodeMessage(profile, bytes)
  } catch {
    return undefined
  }
}
