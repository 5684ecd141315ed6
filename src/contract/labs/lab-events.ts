import { z } from 'zod'
import { Id, Instant, openEnum } from '../common.ts'
import { eventType, exampleValues } from '../delivery/event.ts'
import { personal, Safe } from '../personal.ts'
import { Appointment } from './appointments.ts'
import { aNewOrder, anAppointment, anOrder } from './lab-examples.ts'
import { orderStatuses } from './lifecycle.ts'
import { decisionCodes, resolutionActions, reviewStatuses, subReasonCodes } from './match-review.ts'
import { Order } from './orders.ts'
import { interpretations } from './results.ts'

const CriticalResult = z.looseObject({
  order_id: Id,
  sample_id: Safe.nullable(),
  status: openEnum(['final', 'partial']),
  interpretation: openEnum(interpretations),
  team_id: Id,
  user_id: Id,
  result_version: z.int().nullish().describe('The number of the report in which the result became critical.'),
  created_at: Instant,
  updated_at: Instant,
  marker: z.object({ name: Safe, slug: Safe }).nullish().describe('The marker that is critical. Its value is never included.'),
})

const EscalatedResult = z.looseObject({
  order_id: Id,
  sample_id: Safe.nullable(),
  team_id: Id,
  user_id: Id,
  result_version: z.int().describe('The number of the report in which the result became critical. There can be newer ones.'),
  reported_at: Instant,
  escalation: z.int().describe('How many times this result has been escalated.'),
  recipients: openEnum(['contacts', 'administrators']).describe('Who gets the email: the contacts of the team, or the administrators too.'),
  next_escalation_at: Instant,
})

const KitAlert = z.looseObject({
  order_id: Id,
  sample_id: Safe.nullable(),
  team_id: Id,
  user_id: Id,
  reason: openEnum(['overdue', 'delayed', 'arrived_after_cancellation']),
  status: openEnum(orderStatuses).describe('The status of the order, which stays as it is.'),
  since: Instant.describe('When the order took this status.'),
  limit_days: z.int().nullable().describe('The limit that has passed. Null for other reasons.'),
  created_at: Instant,
})

const MatchReview = z.looseObject({
  id: Id,
  status: openEnum(reviewStatuses),
  decision_code: openEnum(decisionCodes),
  sub_reason_codes: z.array(openEnum(subReasonCodes)).nullish(),
  interpretation: openEnum(interpretations)
    .nullish()
    .describe('The worst interpretation in the result. Review critical results immediately.'),
  resolution_action: openEnum(resolutionActions).nullish(),
  resolved_user_id: Id.nullish(),
  resolved_order_id: Id.nullish(),
})

const ParsingJob = z.looseObject({
  id: Id,
  status: openEnum(['upload_pending', 'started', 'completed', 'failed']),
  failure_reason: openEnum(['invalid_input', 'low_quality', 'not_english', 'too_many_pages', 'processing_error']).nullish(),
  data: z
    .looseObject({ metadata: personal(z.looseObject({})), results: z.array(z.looseObject({ test_name: Safe, value: Safe })) })
    .nullish(),
  needs_human_review: z.boolean(),
  is_reviewed: z.boolean(),
})

const order = { key: 'order', data: Order }
const appointment = { key: 'appointment', data: Appointment }
const review = { key: 'match review', data: MatchReview }
const job = { key: 'parsing job', data: ParsingJob }

const aReview = {
  id: '5d1f0c7a-93b2-4e68-a0d4-6c2b8e9f7051',
  status: 'pending_customer_review',
  decision_code: 'match_demo',
  sub_reason_codes: [],
  interpretation: 'normal',
  resolution_action: null,
  resolved_user_id: null,
  resolved_order_id: null,
}
const aJob = {
  id: '8e4b2a6d-1c3f-4b95-9a7e-d05f3c6b2174',
  status: 'started',
  failure_reason: null,
  data: null,
  needs_human_review: false,
  is_reviewed: false,
}

export const labEvents = {
  'labtest.order.created': eventType({
    ...order,
    description: 'Emitted when an order is placed, imported, or created as a redraw or recreation.',
    example: aNewOrder,
  }),
  'labtest.order.updated': eventType({
    ...order,
    description:
      'Emitted when the status or another field of an order changes. Webhooks receive the event of partial_results only if the team has partial_webhooks_enabled.',
    example: anOrder,
  }),
  'labtest.appointment.created': eventType({
    ...appointment,
    description: 'Emitted when a visit is booked, reserved or requested.',
    example: anAppointment,
  }),
  'labtest.appointment.updated': eventType({
    ...appointment,
    description: 'Emitted when the status or the time of a visit changes.',
    example: {
      ...anAppointment,
      status: 'confirmed',
      event_status: 'scheduled',
      event_data: { origin: 'customer', is_reschedule: true },
      events: [
        ...anAppointment.events,
        { created_at: exampleValues.later, status: 'scheduled', data: { origin: 'customer', is_reschedule: true } },
      ],
    },
  }),
  'labtest.result.critical': eventType({
    key: 'critical results of the order',
    description: 'Emitted when a result becomes critical. The payload names the marker, never its value.',
    data: CriticalResult,
    example: {
      order_id: exampleValues.order_id,
      sample_id: 'HRB-204417',
      status: 'final',
      interpretation: 'critical',
      team_id: exampleValues.team_id,
      user_id: exampleValues.user_id,
      result_version: 1,
      created_at: exampleValues.at,
      updated_at: exampleValues.later,
      marker: { name: 'Glucose', slug: 'glucose' },
    },
  }),
  'labtest.result.critical.escalated': eventType({
    key: 'critical results of the order',
    description:
      'Emitted when a critical result is not acknowledged within a wait of the team setting critical_escalation_minutes, and again until it is. The payload has no marker and no value.',
    data: EscalatedResult,
    example: {
      order_id: exampleValues.order_id,
      sample_id: 'HRB-204417',
      team_id: exampleValues.team_id,
      user_id: exampleValues.user_id,
      result_version: 1,
      reported_at: exampleValues.at,
      escalation: 1,
      recipients: 'contacts',
      next_escalation_at: '2026-03-01T10:30:00.000Z',
    },
  }),
  'labtest.kit.alert': eventType({
    key: 'order',
    description:
      'Emitted when a kit is overdue or delayed and no status shows it, and when a canceled kit reaches the lab. Someone needs to follow up.',
    data: KitAlert,
    example: {
      order_id: exampleValues.order_id,
      sample_id: 'HRB-204417',
      team_id: exampleValues.team_id,
      user_id: exampleValues.user_id,
      reason: 'overdue',
      status: 'collecting_sample.testkit.with_customer',
      since: exampleValues.at,
      limit_days: 30,
      created_at: exampleValues.later,
    },
  }),
  'labtest.match_review.created': eventType({
    ...review,
    description: 'Emitted when a result fits no order with certainty and needs review.',
    example: aReview,
  }),
  'labtest.match_review.updated': eventType({
    ...review,
    description: 'Emitted when someone accepts or rejects an unmatched result, or is unsure about it.',
    example: {
      ...aReview,
      status: 'resolved',
      resolution_action: 'accept',
      resolved_user_id: exampleValues.user_id,
      resolved_order_id: exampleValues.order_id,
    },
  }),
  'lab_report.parsing_job.created': eventType({
    ...job,
    description: 'Emitted when a lab report is submitted for parsing.',
    example: aJob,
  }),
  'lab_report.parsing_job.updated': eventType({
    ...job,
    description: 'Emitted when the parsing of a lab report has completed or failed.',
    example: {
      ...aJob,
      status: 'completed',
      needs_human_review: true,
      data: {
        metadata: { lab_name: 'Lantern Laboratories', date_collected: '2026-03-01', gender: 'other' },
        results: [{ test_name: 'Ferritin', value: '48', type: 'numeric', units: 'ng/mL', interpretation: 'normal' }],
      },
    },
  }),
}
