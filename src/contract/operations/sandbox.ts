import { z } from 'zod'
import { Cursor, Id, Instant, InstantIn, NoContent } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { message, Safe } from '../personal.ts'

const Clock = z.object({ now: Instant, offset_seconds: z.number() }).meta({ id: 'SandboxClock' })

const InboxMessage = z
  .object({
    id: Id,
    received_at: Instant,
    verified: z.boolean(),
    verdict: Safe.describe('`verified`, or why the signature is not valid.'),
    headers: z.record(Safe, Safe),
    event: message(z.looseObject({})).describe('The message as a webhook receives it.'),
  })
  .meta({ id: 'InboxMessage' })

const inbox = { auth: 'team', tag: 'Sandbox', sandbox: true, path: '/sandbox/inbox', subjects: {} } as const

const clock = { auth: 'team', tag: 'Sandbox', sandbox: true, returns: Clock, subjects: {} } as const

export const sandboxEndpoints = {
  getClock: endpoint({ ...clock, method: 'get', path: '/sandbox/clock', unaudited: true, summary: 'Get the sandbox clock' }),
  moveClock: endpoint({
    ...clock,
    method: 'post',
    path: '/sandbox/clock',
    summary: 'Advance the sandbox clock',
    description:
      'Moves the clock of the team forward and returns once all work due by then is done, in order. To go back, reset the clock.',
    body: z
      .object({
        advance_seconds: z.number().positive('Must be greater than 0.').max(315_576_000, 'Must be at most ten years.').optional(),
        now: InstantIn.optional(),
      })
      .meta({ id: 'MoveClock' })
      .describe('Send exactly one of advance_seconds and now.'),
    refusals: { 400: 'The time is before the clock of the team.' },
  }),
  resetClock: endpoint({
    ...clock,
    method: 'post',
    path: '/sandbox/clock/reset',
    summary: 'Reset the sandbox clock',
    description: 'Sets the clock of the team to real time.',
  }),
  resetTeam: endpoint({
    auth: 'team',
    tag: 'Sandbox',
    sandbox: true,
    method: 'post',
    path: '/sandbox/reset',
    summary: 'Reset a team',
    subjects: {},
    description:
      'Erases all users, orders, inbox messages and idempotency keys of the team immediately and resets its clock. Settings, keys, webhooks, lab tests and lab accounts stay. Emits no events.',
    body: z.object({ team_id: Id.describe('The team of the key, as a safeguard.') }).meta({ id: 'ResetTeam' }),
    returns: z
      .object({ team_id: Id, users: z.int(), orders: z.int() })
      .meta({ id: 'TeamResetResult' })
      .describe('The numbers of erased users and orders.'),
    refusals: { 400: 'The key belongs to another team.' },
  }),
  readInbox: endpoint({
    ...inbox,
    method: 'get',
    summary: 'List inbox messages',
    subjects: { user_id: 'result.messages[].event.user_id' },
    description:
      'The inbox is a webhook that Assay hosts, so you need no receiver of your own. It receives signed events, verifies them and keeps them for 7 days. The first request opens it and sends it the last 100 events, so it can be empty for a moment. Newest messages come first.',
    query: z.object({ limit: z.int().min(1).max(100).default(50), next_cursor: Cursor }),
    returns: z.object({ messages: z.array(InboxMessage), next_cursor: Safe.nullable() }).meta({ id: 'Inbox' }),
  }),
  emptyInbox: endpoint({
    ...inbox,
    method: 'delete',
    status: 204,
    summary: 'Empty the inbox',
    description: 'Deletes all messages. The inbox continues to receive events.',
    returns: NoContent,
  }),
}
