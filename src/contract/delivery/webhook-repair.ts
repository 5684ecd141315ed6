import { z } from 'zod'
import { Cursor, Id, Instant, InstantIn, openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { messageText, PersonalText, Safe } from '../personal.ts'
import { EventPattern } from './event.ts'
import { noWebhook, WebhookPath, webhookRoot, webhooks } from './webhooks.ts'

const attemptOutcomes = ['delivered', 'retried', 'exhausted'] as const
const jobKinds = ['recover', 'replay'] as const
const jobStates = ['running', 'done', 'stopped', 'failed'] as const
const positionStates = ['pending', 'parked', 'delivered', 'exhausted', 'gone', 'not_a_message'] as const

const AttemptPath = WebhookPath.extend({ attempt_id: Id })
const MessagePath = WebhookPath.extend({ event_id: Id })
const JobPath = WebhookPath.extend({ job_id: Id })

const page = { limit: z.int().min(1).max(100).default(50), next_cursor: Cursor }
const pageOf = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item), next_cursor: Safe.nullable() })

const attempt = {
  id: Id,
  webhook_id: Id,
  event_id: Id,
  event_type: Safe,
  key: Safe.describe('The ordering key, as in the webhook-key header.'),
  sequence: z.int().describe('The position of the event in the log of the team, as in the webhook-sequence header. 0 for an example.'),
  example: z.boolean(),
  attempt: z.int().describe('The number of the attempt, starting with 1.'),
  at: Instant,
  outcome: openEnum(attemptOutcomes).describe(
    'delivered: the webhook responded with 2xx. retried: the attempt failed and another follows. exhausted: the last attempt failed.',
  ),
  status: z.int().nullable().describe('The HTTP status of the response. Null if there was no response.'),
  error: Safe.nullable(),
  error_message: Safe.nullable(),
  ms: z.int().describe('The duration of the attempt in milliseconds.'),
  next_try_at: Instant.nullable().describe('When the next attempt was planned, as of this attempt.'),
}
const Attempt = z.object(attempt).meta({ id: 'WebhookAttempt' })
const AttemptDetail = z
  .object({
    ...attempt,
    url: Safe,
    request_headers: z.record(Safe, Safe).describe('The headers as sent. Values of sensitive headers are masked.'),
    request_body: messageText(z.string()).nullable().describe('Null once the retention of the event has ended.'),
    response_headers: z.record(Safe, Safe),
    response_body: PersonalText,
    truncated: z.boolean().describe('True if the response was larger than the 64 KiB that Assay reads.'),
    timing: z
      .object({ connected: z.int().nullable(), answered: z.int().nullable(), total: z.int() })
      .nullable()
      .describe('Milliseconds until the connection, until the response status, and in total. Null for a step that was not reached.'),
  })
  .meta({ id: 'WebhookAttemptDetail' })

const Message = z
  .object({
    event_id: Id,
    event_type: Safe,
    key: Safe,
    sequence: z.int().describe('The position of the event in the log of the team.'),
    created_at: Instant,
    attempts: z.int().describe('The number of attempts so far.'),
    behind: z.int().describe('The number of parked messages with the same key before it.'),
    next_try_at: Instant.nullable().describe('Null while an earlier message delays it or the webhook is disabled.'),
  })
  .meta({ id: 'PendingMessage' })

const Position = z
  .object({
    sequence: z.int(),
    state: openEnum(positionStates).describe(
      'pending: not attempted yet. parked: a retry follows, or it waits for one of its key. delivered. exhausted: the last attempt failed. gone: its event expired or its user was erased. not_a_message: the webhook does not receive this event, or the log has none at this position.',
    ),
    event_id: Id.nullable(),
  })
  .meta({ id: 'MessagePosition' })

const RetryResult = z
  .object({
    event_id: Id,
    action: openEnum(['retried', 'resent']),
    sequence: z.int().describe('The position of the event in the log of the team.'),
    behind: z.int().describe('The number of parked messages with the same key before it.'),
  })
  .meta({ id: 'RetriedMessage' })

const Job = z
  .object({
    id: Id,
    webhook_id: Id,
    kind: openEnum(jobKinds),
    state: openEnum(jobStates),
    from: Instant,
    to: Instant,
    event_types: z.array(Safe).nullable(),
    total: z.int().nullable().describe('The number of events to examine. Null before counting, and above 100,000.'),
    done: z.int().describe('The number of events examined so far.'),
    sent: z.int().describe('The number of messages sent or parked so far.'),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'WebhookJob' })

const noJob = { 404: 'No such webhook in the team, or the webhook has no such job.' }

export const webhookRepairEndpoints = {
  listWebhookAttempts: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/attempts`,
    summary: 'List webhook attempts',
    description: 'Returns the newest attempts first.',
    params: WebhookPath,
    query: z.object({
      ...page,
      outcome: z.enum(attemptOutcomes).nullish(),
      event_type: EventPattern.nullish(),
      event_id: Id.nullish(),
      since: InstantIn.nullish(),
      until: InstantIn.nullish().describe('Exclusive.'),
    }),
    returns: pageOf(Attempt).meta({ id: 'WebhookAttemptList' }),
    refusals: noWebhook,
  }),
  getWebhookAttempt: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/attempts/{attempt_id}`,
    summary: 'Get a webhook attempt',
    description: 'Returns the request, the response (up to 64 KiB) and the timing.',
    subjects: { user_id: 'result.user_id', event_id: 'result.event_id' },
    params: AttemptPath,
    returns: AttemptDetail,
    refusals: { 404: 'No such webhook in the team, or no such attempt.' },
  }),
  listWebhookMessages: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/messages`,
    summary: 'List pending messages',
    description:
      'In the order of the log. Assay examines at most 10,000 events per page, so a page with a `next_cursor` can be short or empty. The list changes while it delivers messages. With `no`, the list has at most one message, and `position` says what became of this position of the log.',
    params: WebhookPath,
    query: z.object({
      ...page,
      state: z.enum(['waiting']).default('waiting'),
      no: z.int().min(1).nullish().describe('A position, as in the webhook-sequence and webhook-previous headers.'),
    }),
    returns: pageOf(Message)
      .extend({ position: Position.nullish().describe('Present if the request has `no`.') })
      .meta({ id: 'PendingMessageList' }),
    refusals: noWebhook,
  }),
  retryWebhookMessage: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/messages/{event_id}/retry`,
    summary: 'Retry a message',
    description:
      'If the message is parked, Assay attempts the first parked message of its key now. If it was not attempted yet, a pause of the webhook ends. Both keep the order (`retried`). Any other event of the team is sent again now, with the same sequence (`resent`).',
    params: MessagePath,
    returns: RetryResult,
    refusals: { 400: 'The webhook is disabled.', 404: 'No such webhook or event in the team.' },
  }),
  recoverWebhook: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/recover`,
    summary: 'Recover exhausted messages',
    subjects: { id: 'result.id' },
    description:
      'Starts a job that resends every message exhausted in the period. It skips messages that were attempted since or are pending.',
    params: WebhookPath,
    body: z.object({ since: InstantIn, until: InstantIn.nullish().describe('Exclusive. Default: now.') }).meta({ id: 'RecoverWebhook' }),
    returns: Job,
    refusals: noWebhook,
  }),
  replayWebhook: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/replay`,
    summary: 'Replay events',
    subjects: { id: 'result.id' },
    description:
      'Starts a job that sends the events of a period in log order, including events that were already delivered. It sends only events that match the filter of the webhook. New messages go first.',
    params: WebhookPath,
    body: z
      .object({
        from: InstantIn,
        to: InstantIn.nullish().describe('Exclusive. Default: now.'),
        event_types: z.array(EventPattern).min(1).max(200).nullish().describe('Limits the replay to these event types.'),
      })
      .meta({ id: 'ReplayWebhook' }),
    returns: Job,
    refusals: noWebhook,
  }),
  listWebhookJobs: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/jobs`,
    summary: 'List webhook jobs',
    description: 'Returns recover and replay jobs, newest first.',
    params: WebhookPath,
    query: z.object(page),
    returns: pageOf(Job).meta({ id: 'WebhookJobList' }),
    refusals: noWebhook,
  }),
  getWebhookJob: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/jobs/{job_id}`,
    summary: 'Get a webhook job',
    description: 'Poll it to follow the progress of a recovery or replay.',
    params: JobPath,
    returns: Job,
    refusals: noJob,
  }),
  stopWebhookJob: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/jobs/{job_id}/stop`,
    summary: 'Stop a webhook job',
    description: 'A replay stops immediately. Messages that are parked are still delivered. Stopping a job that has ended changes nothing.',
    params: JobPath,
    returns: Job,
    refusals: noJob,
  }),
  sendWebhookExample: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/example`,
    summary: 'Send an example event',
    subjects: { id: 'result.id' },
    description:
      'Makes one signed attempt immediately, even if the webhook is disabled or filters the type out. Assay does not retry it. The attempt appears in the list of attempts with sequence 0 and the key `example`.',
    params: WebhookPath,
    body: z.object({ event_type: z.string().max(100) }).meta({ id: 'SendWebhookExample' }),
    returns: Attempt,
    refusals: { 404: 'No such webhook in the team, or no such event type.' },
  }),
}
