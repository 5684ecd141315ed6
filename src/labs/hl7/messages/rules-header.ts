import { delimitersOf } from '../codec/rules-delimiters.ts'
import type { Message, Segment } from '../codec/rules-message.ts'
import { formatTime } from '../codec/rules-time.ts'
import { type Cell, componentsOf, message } from '../codec/rules-write.ts'
import type { Profile } from '../profiles/rules-profile.ts'

export type Header = {
  type: string
  event: string
  structure: string
  control_id: string
  account: string
  sent_at: string
  processing_id: string
}

/** A message with its MSH by the profile. */
export const buildMessage = (profile: Profile, header: Header, segments: Segment[]): Message =>
  message(delimitersOf('|', profile.message.encoding_characters), headerFields(profile, header), segments)

function headerFields({ version, time_zone, message }: Profile, header: Header) {
  const { type, event, structure } = header
  return {
    3: componentsOf(message.sending_application),
    4: componentsOf(message.sending_facility.replace('{account}', header.account)),
    5: componentsOf(message.receiving_application),
    6: componentsOf(message.receiving_facility),
    7: formatTime(header.sent_at, time_zone, message.time),
    9: hasStructures(version) ? [type, event, structure] : [type, event],
    10: header.control_id,
    11: header.processing_id,
    12: version,
    15: message.accept_acknowledgment,
    16: message.application_acknowledgment,
    18: message.declare_charset ? message.charset : null,
    21: { repetitions: message.profile_ids.map(componentsOf) },
  } satisfies Record<number, Cell | { repetitions: Cell[] }>
}

/** MSH-9 has a third component since 2.3.1. */
export const hasStructures = (version: string) => version !== '2.3'

/** TQ1, SPM and the fields of ERR after the first exist since 2.5. */
export const isSince25 = (version: string) => version.startsWith('2.5')
