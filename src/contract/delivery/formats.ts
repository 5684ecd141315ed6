import { z } from 'zod'
import { Id, Instant, openEnum } from '../common.ts'
import { Safe } from '../personal.ts'

/** The formats that a webhook or a pipeline destination can have. */
export const offeredFormats = ['full', 'thin'] as const

/** `fhir` is not offered yet: nothing turns an event into resources. */
export type Format = (typeof offeredFormats)[number] | 'fhir'

const meaning =
  'full: the event with its data. thin: only the type, IDs and a ticket that opens the event. A change applies to events after it.'

const asksForClientUserId = 'Whether thin messages have `client_user_id`.'

/** The settings of a destination's messages in requests, and in responses. */
export const FormatInput = {
  format: z.enum(offeredFormats).nullish().describe(`${meaning} Default for a new destination: full.`),
  include_client_user_id: z.boolean().nullish().describe(`${asksForClientUserId} Default for a new destination: false.`),
}
export const FormatSettings = {
  format: openEnum(offeredFormats).describe(meaning),
  include_client_user_id: z.boolean().describe(asksForClientUserId),
}

/** A message in the format `thin`. */
export const ThinEvent = z
  .object({
    event_type: Safe.meta({ example: 'labtest.order.updated' }),
    team_id: Id,
    user_id: Id.nullable().describe('Null if the event is not about a user, and in `user.deleted` after the user is erased.'),
    order_id: Id.nullable().describe('Null if the event is not about an order.'),
    event_id: Id.describe('The same for every delivery of the event. Deduplicate by it.'),
    created_at: Instant.describe("When the event happened, on the team's clock."),
    sequence: z.int().describe('The position of the event in the log of the team. 0 for an example.'),
    ticket: Safe.describe(
      'Opens the event at GET /events/tickets/{ticket} for 24 hours, together with a key of the team or a signature. Every attempt has a new one.',
    ),
    client_user_id: Safe.nullable().optional().describe('Present only if the destination asks for it.'),
  })
  .meta({ id: 'ThinEvent' })
export type ThinEvent = z.output<typeof ThinEvent>
