import { decodeBytes, encodeText } from '../codec/rules-charset.ts'
import { formatMessage, type Message, parseMessage } from '../codec/rules-message.ts'
import type { Profile } from '../profiles/rules-profile.ts'

const segmentEnds = { CR: '\r', CRLF: '\r\n', LF: '\n' }

/** The bytes of a message that goes to the lab. */
export const encodeMessage = ({ message: rules }: Profile, message: Message) =>
  encodeText(formatMessage(message, segmentEnds[rules.segment_end]), rules.charset)

/** The text of a message of the lab. */
export const decodeText = ({ message: rules }: Profile, bytes: Uint8Array) => decodeBytes(bytes, rules.charset)

/** Parses a message of the lab. */
export function decodeMessage(profile: Profile, bytes: Uint8Array): Message {
  const { text, charset } = decodeText(profile, bytes)
  return parseMessage(text, charset)
}

/** Parses a message of the lab; undefined for bytes that are not HL7. */
export const decodeOrUndefined = (profile: Profile, bytes: Uint8Array) => orUndefined(() => decodeMessage(profile, bytes))

function orUndefined(parse: () => Message): Message | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

const MAX_HEADER_BYTES = 4096

/** The header alone, also of a message that cannot be read: in another character set, for example. */
export function decodeHeader(profile: Profile, bytes: Buffer): Message | undefined {
  const start = bytes.subarray(0, MAX_HEADER_BYTES)
  const end = start.findIndex((byte) => byte === 0x0d || byte === 0x0a)
  const header = end < 0 ? start : start.subarray(0, end)
  return decodeOrUndefined(profile, header) ?? orUndefined(() => parseMessage(header.toString('latin1')))
}
