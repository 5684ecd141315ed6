import { z } from 'zod'
import { Cursor, Id, Instant, InstantIn, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'

const Count = z.object({ count: z.int(), at_least: z.boolean().describe('True if there are more than `count`.') }).meta({ id: 'Count' })

const Deliveries = z
  .object({
    attempts: Count,
    delivered: z.int(),
    success_rate: z.number().nullable().describe('Share of delivered attempts among the counted ones, from 0 to 1. Null without attempts.'),
    p50_ms: z.number().nullable(),
    p95_ms: z.number().nullable(),
  })
  .meta({ id: 'DeliveryFigures' })

const Overview = z
  .object({
    at: Instant,
    stages: z.array(z.object({ stage: Safe, ...Count.shape })).describe('Orders by phase, the first part of their status.'),
    steps: z.array(z.object({ status: Safe, ...Count.shape })).describe('Orders by status. Only statuses that occur are listed.'),
    results_waiting: Count.describe('Orders whose specimen is at the lab.'),
    critical_unacknowledged: z
      .object({
        ...Count.shape,
        newest: z.array(
          z.object({
            order_id: Id,
            result_version: z.int().describe('The number of the latest report.'),
            critical_version: z.int().describe('The number of the report in which a result became critical.'),
            reported_at: Instant,
            escalations: z.int().describe('How many times the result has been escalated.'),
            next_escalation_at: Instant.nullable(),
          }),
        ),
      })
      .describe('Orders with a critical result that is not acknowledged, and the newest ten of them.'),
    critical_unmatched: Count.describe('Critical results that fit no order with certainty and are pending review.'),
    deliveries: z
      .object({
        last_hour: Deliveries,
        last_day: Deliveries,
        backlog: Count.describe('Pending messages of all webhooks.'),
        oldest_waiting_at: Instant.nullable(),
      })
      .describe('Deliveries to the webhooks of the team.'),
    ingestion: z
      .object({ hours: z.array(z.object({ hour: Instant, events: z.int() })), ...Count.shape })
      .describe('Events of wearable data per hour in the last day, among the newest 10,000 events of the team.'),
    pulse: z
      .object({ minutes: z.array(z.object({ minute: Instant, events: z.int() })), ...Count.shape })
      .describe('All events per minute in the last 30 minutes of real time, among the newest 10,000 events.'),
    activity: z
      .array(z.object({ event_id: Id, event_type: Safe, order_id: Id.nullable(), user_id: Id.nullable(), created_at: Instant }))
      .describe('The newest 20 events of the last 7 days.'),
  })
  .meta({ id: 'Overview' })

const AuditEntry = z
  .object({
    id: Id,
    at: Instant,
    team_id: Id.nullable(),
    actor_kind: openEnum(['team_key', 'management_key', 'access_token', 'lab_key', 'person', 'visitor', 'operator', 'job']),
    actor_id: Id.nullable(),
    actor_name: Safe.nullable().describe('The name of a person who is still a member. Null for keys and former members.'),
    action: Safe,
    subject: Safe.nullable(),
    status: z.int(),
    request_id: Safe.nullable(),
    via: Safe.nullable().describe('`console`, or null for the API.'),
    revealed: z.boolean().describe('True if personal data was shown unmasked in the console.'),
    reason: Safe.nullable().describe('The reason given for revealing personal data.'),
    chain_seq: z
      .int()
      .nullable()
      .describe('The position in the chain of keyed hashes. Null for about a second until the entry is chained.'),
  })
  .meta({ id: 'AuditEntry' })

const BreakPosition = z.object({
  chain_id: Id.describe('The ID of a team, or of the organization for entries without a team.'),
  seq: z.int().describe('The first entry that cannot be trusted.'),
  to: z.int().describe('The last one.'),
})

const AuditBreak = BreakPosition.extend({ reason: Safe }).meta({ id: 'AuditBreak' })

const AuditVerdict = z
  .object({
    intact: z.boolean(),
    rows: z.int().describe('The number of chained entries of the organization and its teams that were verified.'),
    unchained: z.int().describe('The number of entries that are not chained a minute after they were written. Usually 0.'),
    broken: z.object({ seq: z.int(), reason: Safe }).nullable().describe('The first break, which can be in the chain of the deployment.'),
    breaks: z.array(AuditBreak).describe('Breaks of the organization and its teams that are not acknowledged, up to 100.'),
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
    summary: 'Get the overview of a team',
    subjects: {},
    description: 'Returns counts of orders, critical results, deliveries and events. Counts are exact up to 10,000.',
    returns: Overview,
  }),
  listAudit: endpoint({
    ...audit,
    path: '/v1/org/{org_id}/audit_log',
    summary: 'List audit entries',
    description:
      'Returns the authenticated requests of the organization, newest first. A key or role that is limited to teams sees only the entries of those teams.',
    params: z.object({ org_id: Id }),
    query: z.object({
      team_id: Id.nullish(),
      actor_id: Id.nullish().describe('The ID of a key or person.'),
      action: Text(100).nullish().describe('An operation ID, such as getUserInfo.'),
      subject_id: Id.nullish().describe('The ID of a user, order, key or other resource in the request.'),
      via: z.enum(['console', 'api']).nullish(),
      revealed: z.boolean().nullish().describe('Only requests that revealed personal data.'),
      refused: z.boolean().nullish().describe('Only rejected requests.'),
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
    summary: 'Verify the audit log',
    description:
      'Verifies the hash chains of the organization and of its teams, and reports the first broken entry. Assay verifies at most once a minute and returns the last result in between.',
    params: z.object({ org_id: Id }),
    returns: AuditVerdict,
  }),
  acknowledgeAuditBreak: endpoint({
    ...audit,
    scope: 'org',
    grantsAccess: true,
    method: 'post',
    path: '/v1/org/{org_id}/audit_log/acknowledgement',
    summary: 'Acknowledge a break of the audit log',
    description:
      'Ends the alert of a break in the chain of the organization or of one of its teams, after you found the cause. Verification accepts this break from then on, and the chain records who acknowledged it. Only the operator can acknowledge a break in the chain of the deployment.',
    params: z.object({ org_id: Id }),
    body: BreakPosition.meta({ id: 'AuditBreakPosition' }),
    returns: z.object({ success: z.boolean() }).meta({ id: 'AuditAcknowledgement' }),
    refusals: { 404: 'No such break.' },
  }),
}
