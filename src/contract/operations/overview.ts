import { z } from 'zod'
import { Cursor, Id, Instant, InstantIn, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'

const Count = z
  .object({ count: z.int(), at_least: z.boolean().describe('There are more: only so many were counted.') })
  .meta({ id: 'Count' })

const Deliveries = z
  .object({
    attempts: Count,
    delivered: z.int(),
    success_rate: z.number().nullable().describe('Of the attempts that were counted, newest first; null without any.'),
    p50_ms: z.number().nullable(),
    p95_ms: z.number().nullable(),
  })
  .meta({ id: 'DeliveryFigures' })

const Overview = z
  .object({
    at: Instant,
    stages: z.array(z.object({ stage: Safe, ...Count.shape })).describe('Orders by the top level of their status.'),
    steps: z.array(z.object({ status: Safe, ...Count.shape })).describe('Orders by their whole status, those that occur.'),
    results_waiting: Count.describe('Orders whose sample is with the lab.'),
    critical_unacknowledged: z
      .object({ ...Count.shape, newest: z.array(z.object({ order_id: Id, result_version: z.int(), reported_at: Instant })) })
      .describe('Orders in which something became critical that nobody has acknowledged; ten of them.'),
    deliveries: z
      .object({
        last_hour: Deliveries,
        last_day: Deliveries,
        backlog: Count.describe('Messages that wait for a webhook.'),
        oldest_waiting_at: Instant.nullable(),
      })
      .describe('To the webhooks of the team.'),
    ingestion: z
      .object({ hours: z.array(z.object({ hour: Instant, events: z.int() })), ...Count.shape })
      .describe('Events of wearable data by the hour, of the last day or as far back as the newest 10,000 events of the team reach.'),
    pulse: z
      .object({ minutes: z.array(z.object({ minute: Instant, events: z.int() })), ...Count.shape })
      .describe('All events by the minute, in real time, of the last 30 minutes or as far back as the newest 10,000 events reach.'),
    activity: z
      .array(z.object({ event_id: Id, event_type: Safe, order_id: Id.nullable(), user_id: Id.nullable(), created_at: Instant }))
      .describe('The newest twenty events of the last seven days.'),
  })
  .meta({ id: 'Overview' })

const AuditEntry = z
  .object({
    id: Id,
    at: Instant,
    team_id: Id.nullable(),
    actor_kind: openEnum(['team_key', 'management_key', 'access_token', 'lab_key', 'person', 'visitor', 'operator', 'job']),
    actor_id: Id.nullable(),
    actor_name: Safe.nullable().describe('Of a person that is still there.'),
    action: Safe,
    subject: Safe.nullable(),
    status: z.int(),
    request_id: Safe.nullable(),
    via: Safe.nullable().describe('console, or null for the API.'),
    revealed: z.boolean().describe('Personal data was shown unmasked at the console.'),
    reason: Safe.nullable().describe('The reason that was given for it.'),
    chain_seq: z.int().nullable().describe('Its place in the chain of keyed hashes; null for the second until it has one.'),
  })
  .meta({ id: 'AuditEntry' })

const AuditVerdict = z
  .object({
    intact: z.boolean(),
    rows: z.int().describe('Rows of the chain that were walked, of all organisations.'),
    unchained: z.int().describe('Rows too new to be in the chain; they join it within about a second.'),
    broken: z.object({ seq: z.int(), reason: Safe }).nullable(),
    verified_at: Instant,
  })
  .meta({ id: 'AuditVerdict' })

const audit = { auth: 'management', plan: 'scale', scope: 'team', tag: 'Console', method: 'get', subjects: {} } as const

export const overviewEndpoints = {
  getOverview: endpoint({
    auth: 'team',
    tag: 'Console',
    method: 'get',
    path: '/console/overview',
    summary: 'How the team is doing',
    subjects: {},
    description: 'Counts are exact up to 10,000.',
    returns: Overview,
  }),
  listAudit: endpoint({
    ...audit,
    path: '/v1/org/{org_id}/audit_log',
    summary: 'Who did what, newest first',
    description: 'Every authenticated request of the organisation. With a key or a role that is bound to teams: what was done in those.',
    params: z.object({ org_id: Id }),
    query: z.object({
      team_id: Id.nullish(),
      actor_id: Id.nullish().describe('A key or a person.'),
      action: Text(100).nullish().describe('The name of an endpoint, such as getUserInfo.'),
      subject_id: Id.nullish().describe('A user, an order, a key: whatever it was about.'),
      via: z.enum(['console', 'api']).nullish(),
      revealed: z.boolean().nullish().describe('Only what was revealed.'),
      refused: z.boolean().nullish().describe('Only what was refused.'),
      from: InstantIn.nullish(),
      to: InstantIn.nullish(),
      limit: z.int().min(1).max(200).default(50),
      next_cursor: Cursor,
    }),
    returns: z.object({ entries: z.array(AuditEntry), next_cursor: Safe.nullable() }).meta({ id: 'AuditLog' }),
  }),
  verifyAuditLog: endpoint({
    ...audit,
    scope: 'org',
    path: '/v1/org/{org_id}/audit_log/verification',
    summary: 'Whether the audit log is as it was written',
    description: 'Walks the whole chain, at most once a minute; what was found then is answered meanwhile.',
    params: z.object({ org_id: Id }),
    returns: AuditVerdict,
  }),
}
