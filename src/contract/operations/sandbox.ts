import { z } from 'zod'
import { Cursor, Id, Instant, InstantIn, Nothing } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { message, Safe } from '../personal.ts'

const Clock = z.object({ now: Instant, offset_seconds: z.number() }).meta({ id: 'SandboxClock' })

const InboxMessage = z
  .object({
    id: Id,
    received_at: Instant,
    verified: z.boolean(),
    verdict: Safe.describe('verified, or why not.'),
    headers: z.record(Safe, Safe),
    event: message(z.looseObject({})).describe('The message, as a webhook gets it.'),
  })
  .meta({ id: 'InboxMessage' })

const inbox = { auth: 'team', tag: 'Sandbox', sandbox: true, path: '/sandbox/inbox', subjects: {} } as const

const clock = { auth: 'team', tag: 'Sandbox', sandbox: true, returns: Clock, subjects: {} } as const

export const sandboxEndpoints = {
  getClock: endpoint({ ...clock, method: 'get', path: '/sandbox/clock', unaudited: true, summary: "Read the team's clock" }),
  moveClock: endpoint({
    ...clock,
    method: 'post',
    path: '/sandbox/clock',
    summary: "Move the team's clock forward",
    description:
      'Answers once everything of the team that is due by then has happened, in order. Time only moves forward; use reset to go back.',
    body: z
      .object({
        advance_seconds: z.number().positive('Must be greater than 0.').max(315_576_000, 'Must be at most ten years.').optional(),
        now: InstantIn.optional(),
      })
      .meta({ id: 'MoveClock' })
      .describe('Exactly one of the two.'),
    refusals: { 400: 'The moment lies before the clock.' },
  }),
  resetClock: endpoint({ ...clock, method: 'post', path: '/sandbox/clock/reset', summary: "Set the team's clock back to real time" }),
  resetTeam: endpoint({
    auth: 'team',
    tag: 'Sandbox',
    sandbox: true,
    method: 'post',
    path: '/sandbox/reset',
    summary: 'Empty the team',
    subjects: {},
    description:
      'Takes away every user with all that belongs to it, every order, the inbox and remembered idempotency keys, for good and at once, and sets the clock back. What was configured stays: settings, keys, webhooks, lab tests, lab accounts. Nobody is told by webhook.',
    body: z.object({ team_id: Id.describe('The team of the key, so that no team is emptied by mistake.') }).meta({ id: 'ResetTeam' }),
    returns: z.object({ team_id: Id, users: z.int(), orders: z.int() }).meta({ id: 'TeamEmptied' }).describe('How many there were.'),
    refusals: { 400: 'The key is of another team.' },
  }),
  readInbox: endpoint({
    ...inbox,
    method: 'get',
    summary: "Read the team's inbox, newest first",
    subjects: { user_id: 'result.messages[].event.user_id' },
    description:
      'A webhook of our own that needs no receiver: events come to it signed, are verified and kept for 7 days. The first call opens it and sends it the last 100 events of the team, so it may be empty for a moment.',
    query: z.object({ limit: z.int().min(1).max(100).default(50), next_cursor: Cursor }),
    returns: z.object({ messages: z.array(InboxMessage), next_cursor: Safe.nullable() }).meta({ id: 'Inbox' }),
  }),
  emptyInbox: endpoint({
    ...inbox,
    method: 'delete',
    status: 204,
    summary: "Empty the team's inbox",
    description: 'It stays open for what comes.',
    returns: Nothing,
  }),
}
