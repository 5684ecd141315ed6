import { errors } from './kinds.ts'

export const webhookErrors = errors({
  ATTEMPT_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The webhook has no such attempt, or the attempt is past its retention.',
    remedy: 'List the attempts of the webhook.',
  },
  EVENT_GONE: {
    kind: 'gone',
    meaning: 'The event of a ticket is past its retention, its user is erased, or the destination of the ticket is deleted.',
    remedy: 'Drop the ticket.',
  },
  EVENT_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no such event, or the event is past its retention.',
    remedy: 'List the events with GET /events.',
  },
  EVENT_TYPE_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'No event type has this name.',
    remedy: 'List the event types with GET /event-types.',
  },
  INVALID_WEBHOOK_SECRET: {
    kind: 'refused',
    meaning: 'The secret is not whsec_ followed by 24 to 75 bytes in base64.',
    remedy: 'Omit the secret, and Assay generates one.',
  },
  LOG_BUSY: {
    kind: 'unavailable',
    meaning: 'The team writes events faster than the change of a webhook, pipeline or team can wait for.',
    remedy: 'Send the request again.',
  },
  TICKET_EXPIRED: {
    kind: 'gone',
    meaning: 'The ticket is older than 24 hours.',
    remedy: 'Retry or replay the event to get a new ticket, or read GET /events.',
  },
  TICKET_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'Assay did not issue this ticket.',
    remedy: 'Send the ticket of a thin message unchanged.',
  },
  TICKET_OF_ANOTHER_TEAM: {
    kind: 'forbidden',
    meaning: 'The ticket is for an event of another team than the credential.',
    remedy: 'Send a key of the team that the message names.',
  },
  TOO_MANY_STREAMS: {
    kind: 'too_many',
    meaning: 'The team has reached the limit of open event streams in a service.',
    remedy: 'Close a stream, or read GET /events.',
  },
  TOO_MANY_WEBHOOKS: {
    kind: 'refused',
    meaning: 'The team has reached the limit of webhooks.',
    remedy: 'Delete webhooks that are no longer used.',
  },
  WEBHOOK_DISABLED: {
    kind: 'refused',
    meaning: 'The webhook is disabled, so it receives no messages.',
    remedy: 'Set `disabled` to `false` with PATCH.',
  },
  WEBHOOK_HEADER_REFUSED: {
    kind: 'refused',
    meaning: 'A custom header is malformed, or its name is reserved for the delivery itself.',
    remedy: 'Follow error_message: use another name, such as X-My-Token, and a printable value.',
  },
  WEBHOOK_JOB_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The webhook has no such job.',
    remedy: 'List the jobs of the webhook.',
  },
  WEBHOOK_NOT_ASYMMETRIC: {
    kind: 'refused',
    meaning: 'The webhook has no Ed25519 key to rotate.',
    remedy: 'Set `asymmetric` to `true`, and the webhook gets a key.',
  },
  WEBHOOK_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no webhook with this ID.',
    remedy: 'List the webhooks of the team.',
  },
  WEBHOOK_URL_REFUSED: {
    kind: 'refused',
    meaning: 'Webhooks may not call this URL. detail.reason names the part that is not allowed.',
    remedy:
      'Use a public https URL. An operator can allow private networks with WEBHOOK_ALLOWED_NETWORKS, and loopback addresses with WEBHOOK_ALLOW_LOOPBACK.',
  },
})

export const pipelineErrors = errors({
  BROKER_URI_REFUSED: {
    kind: 'refused',
    meaning: 'Pipelines may not connect to this broker URI. detail.reason names the part that is not allowed.',
    remedy: 'Write it as amqps://user:password@host/vhost with a public host.',
  },
  DESTINATION_NOT_SUPPORTED: {
    kind: 'refused',
    meaning: 'Assay publishes to RabbitMQ and Google Cloud Pub/Sub only.',
    remedy: 'Use one of these destinations, or a webhook.',
  },
  DESTINATION_REQUIRED: {
    kind: 'refused',
    meaning: 'The pipeline has no destination, or enables one that it does not have.',
    remedy: 'Send the settings of the destination, or remove it from preferences.enabled.',
  },
  PUBSUB_PROJECT_REFUSED: {
    kind: 'refused',
    meaning: 'The deployment does not allow topics of this Google Cloud project.',
    remedy: 'Ask the operator to add the project to PUBSUB_PROJECTS.',
  },
  RAW_DATA_NOT_PUSHED: {
    kind: 'refused',
    meaning: 'Pipelines do not publish the raw data of providers.',
    remedy: 'Omit provider_raw_data, and read the raw summaries instead.',
  },
})
