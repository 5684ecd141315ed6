import { z } from 'zod'
import { Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { EventEnvelope } from './event.ts'

export const ticketEndpoints = {
  fetchEvent: endpoint({
    tag: 'Events',
    method: 'get',
    path: '/events/tickets/{ticket}',
    auth: 'team',
    webhookSignature: true,
    exact: true,
    summary: 'Get the event of a ticket',
    subjects: { user_id: 'result.user_id', event_id: 'result.event_id' },
    description:
      'Returns exactly the bytes that the format `full` sends. A ticket is valid for 24 hours and for any number of requests. It needs a credential of the team, or a signature with the secret of the webhook that received it. Sign `webhook-id.webhook-timestamp.ticket` as in Standard Webhooks, with the event_id as `webhook-id`.',
    params: z.object({ ticket: Text(1000) }),
    returns: EventEnvelope,
    refusals: {
      404: 'Assay did not issue the ticket.',
      410: 'The ticket has expired, its destination is deleted, the user is erased, or the event is past its retention.',
    },
  }),
}
