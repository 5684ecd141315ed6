import { z } from 'zod'
import { Id, openEnum } from '../common.ts'
import { Safe } from '../personal.ts'
import { eventType } from './event.ts'

const webhook_id = '2b9e4d6c-5a17-4f03-b8e6-c0d3f7a1e594'

/** Events about webhooks and their deliveries. No user is involved. */
export const deliveryEvents = {
  'endpoint.disabled': eventType({
    key: 'webhook',
    description: 'Emitted when Assay disables a webhook because it responded with 410 or failed for 5 days. Its pending messages are kept.',
    data: z.looseObject({ webhook_id: Id, because: openEnum(['gone', 'failing']) }),
    example: { webhook_id, because: 'failing' },
  }),
  'message.attempt.exhausted': eventType({
    key: 'webhook',
    description:
      'Emitted when the last attempt to deliver a message fails. Assay sends the message again only if you recover, retry or replay it.',
    data: z.looseObject({
      webhook_id: Id,
      event_id: Id,
      event_type: Safe,
      attempts: z.int(),
      status: z.int().nullish().describe('The HTTP status of the last response; null if there was no response.'),
      error: Safe.nullish(),
    }),
    example: {
      webhook_id,
      event_id: 'e1c7a9f4-3b82-4d60-95fa-7d0b6e2c8413',
      event_type: 'labtest.order.updated',
      attempts: 8,
      status: 503,
      error: null,
    },
  }),
}
