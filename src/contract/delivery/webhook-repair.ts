import { z } from 'zod'
import { Cursor, Id, Instant, InstantIn, openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { messageText, PersonalText, Safe } from '../personal.ts'
import { EventPattern } from './event.ts'
import { noWebhook, WebhookPath, webhookRoot, webhooks } from './webhooks.ts'

export const outcomes = ['delivered', 'retried', 'exhausted'] as const
const jobKinds = ['recover', 'replay'] as const
const jobStates = ['running', 'done', 'stopped', 'failed'] as const

const AttemptPath = WebhookPath.extend({ attempt_id: Id })
const MessagePath = WebhookPath.extend({ event_id: Id })
const JobPath = WebhookPath.extend({ job_id: Id })

const page = { limit: z.int().min(1).max(100).default(50), next_cursor: Cursor }
const pageOf = <S extends z.ZodType>(of: S) => z.object({ data: z.array(of), next_cursor: Safe.nullable() })

const attempt = {
  id: Id,
  webhook_id: Id,
  event_id: Id,
  event_type: Safe,
  key: Safe.describe('What keeps its order, as webhook-key says.'),
  sequence: z.int().describe('The number of the message under its key, as webhook-sequence says; 0 for an example.'),
  example: z.boolean(),
  attempt: z.int().describe('1 for the first try.'),
  at: Instant,
  outcome: openEnum(outcomes).describe('retried: failed, and will be tried again; exhausted: failed for the last time.'),
  status: z.int().nullable().describe('What the receiver answered; null where it did not.'),
  error: Safe.nullable(),
  error_message: Safe.nullable(),
  ms: z.int(),
  next_try_at: Instant.nullable().describe('When it was to be tried next, as known then.'),
}
const Attempt = z.object(attempt).meta({ id: 'WebhookAttempt' })
const AttemptDetail = z
  .object({
    ...attempt,
    url: Safe,
    request_headers: z.record(Safe, Safe).describe('As they were sent; the values of sensitive ones are hidden.'),
    request_body: messageText(z.string()).nullable().describe('Null once the event is no longer kept.'),
    response_headers: z.record(Safe, Safe),
    response_body: PersonalText,
    truncated: z.boolean().describe('The receiver answered more than the 64 kB that are read.'),
    timing: z
      .object({ connected: z.int().nullable(), answered: z.int().nullable(), total: z.int() })
      .nullable()
      .describe(
        'Milliseconds until there was a connection, until the status came, and until all was over; null where it did not come to that.',
      ),
  })
  .meta({ id: 'WebhookAttemptDetail' })

const Message = z
  .object({
    event_id: Id,
    event_type: Safe,
    key: Safe,
    sequence: z.int(),
    created_at: Instant,
    attempts: z.int().describe('How often it was tried.'),
    behind: z.int().describe('How many messages of its key are before it.'),
    next_try_at: Instant.nullable().describe('Null while others are before it or the webhook is disabled.'),
  })
  .meta({ id: 'WaitingMessage' })

const Retried = z
  .object({
    event_id: Id,
    action: openEnum(['retried', 'resent']),
    sequence: z.int(),
    behind: z.int().describe('How many messages of its key are before it.'),
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
    total: z.int().nullable().describe('How many there are to look at. Null until they were counted, and where there are over 100,000.'),
    done: z.int().describe('How many of them were looked at.'),
    sent: z.int().describe('How many of these were put in line again.'),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'WebhookJob' })

const noJob = { 404: 'No such webhook of the team, or no such job of the webhook.' }

export const webhookRepairEndpoints = {
  listWebhookAttempts: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/attempts`,
    summary: 'List what was tried, newest first',
    params: WebhookPath,
    query: z.object({
      ...page,
      outcome: z.enum(outcomes).nullish(),
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
    summary: 'Get what was sent and answered',
    subjects: { user_id: 'result.user_id', event_id: 'result.event_id' },
    params: AttemptPath,
    returns: AttemptDetail,
    refusals: { 404: 'No such webhook of the team, or no such attempt.' },
  }),
  listWebhookMessages: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/messages`,
    summary: 'List the messages that wait',
    description: 'Those that are tried next come first. The list moves while messages are delivered.',
    params: WebhookPath,
    query: z.object({ ...page, state: z.enum(['waiting']).default('waiting') }),
    returns: pageOf(Message).meta({ id: 'WaitingMessageList' }),
    refusals: noWebhook,
  }),
  retryWebhookMessage: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/messages/{event_id}/retry`,
    summary: 'Try a message now, or send it again',
    description:
      'A message that waits keeps its place, and the first of its key is tried now (`retried`). One that was delivered or exhausted, or that the webhook never had, is put at the end of its key with a new sequence (`resent`).',
    params: MessagePath,
    returns: Retried,
    refusals: { 400: 'The webhook is disabled.', 404: 'No such webhook, or no such event of the team.' },
  }),
  recoverWebhook: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/recover`,
    summary: 'Send everything again that was exhausted',
    subjects: { id: 'result.id' },
    description: 'What was delivered since, or waits already, is left out. Answers the job that does it.',
    params: WebhookPath,
    body: z.object({ since: InstantIn, until: InstantIn.nullish().describe('Exclusive; default now.') }).meta({ id: 'RecoverWebhook' }),
    returns: Job,
    refusals: noWebhook,
  }),
  replayWebhook: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/replay`,
    summary: 'Send a window of the event log',
    subjects: { id: 'result.id' },
    description:
      'Every event that was logged in the window and that the webhook takes, in the order of the log, whether or not it was delivered before. Answers the job that does it.',
    params: WebhookPath,
    body: z
      .object({
        from: InstantIn,
        to: InstantIn.nullish().describe('Exclusive; default now.'),
        event_types: z.array(EventPattern).min(1).max(200).nullish().describe('Only these of the types that the webhook takes.'),
      })
      .meta({ id: 'ReplayWebhook' }),
    returns: Job,
    refusals: noWebhook,
  }),
  listWebhookJobs: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/jobs`,
    summary: 'List the jobs of a webhook, newest first',
    params: WebhookPath,
    query: z.object(page),
    returns: pageOf(Job).meta({ id: 'WebhookJobList' }),
    refusals: noWebhook,
  }),
  getWebhookJob: endpoint({
    ...webhooks,
    method: 'get',
    path: `${webhookRoot}/jobs/{job_id}`,
    summary: 'Get how far a job came',
    params: JobPath,
    returns: Job,
    refusals: noJob,
  }),
  stopWebhookJob: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/jobs/{job_id}/stop`,
    summary: 'Stop a job',
    description: 'What it has put in line already is delivered. A job that has ended stays as it is.',
    params: JobPath,
    returns: Job,
    refusals: noJob,
  }),
  sendWebhookExample: endpoint({
    ...webhooks,
    method: 'post',
    path: `${webhookRoot}/example`,
    summary: 'Send an example of an event now',
    subjects: { id: 'result.id' },
    description:
      'One signed attempt, also to a disabled webhook, and whatever its filter says. It is never tried again, says nothing about the health of the webhook, and stands among its attempts with sequence 0 and the key `example`.',
    params: WebhookPath,
    body: z.object({ event_type: z.string().max(100) }).meta({ id: 'SendWebhookExample' }),
    returns: Attempt,
    refusals: { 404: 'No such webhook of the team, or no such event type.' },
  }),
}
