import { z } from 'zod'
import {
  Day,
  ethnicities,
  GuarantorOut,
  genderIdentities,
  genders,
  Id,
  Instant,
  InstantIn,
  openEnum,
  races,
  sexualOrientations,
  Text,
} from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, PersonEmail, PersonName, PersonPhone, personal, Safe, safe } from '../personal.ts'
import { billingTypes, LabTest } from './catalog.ts'
import { lowLevels, methods, orderStatuses, topLevels } from './lifecycle.ts'
import { ImportOrder, NewOrder, NewTestkitOrder, RegisterTestkit } from './new-order.ts'
import { interpretations, resultTypes } from './results.ts'

export const origins = ['initial', 'redraw', 'recreation'] as const
export const transactionStatuses = ['active', 'completed', 'cancelled'] as const
export const statusDetails = [
  'fulfillment_error',
  'date_of_collection_unspecified',
  'demographic_information_unspecified',
  'demographic_information_mismatch',
  'sample_quantity_not_sufficient',
  'sample_contaminated',
  'sample_stability_exceeded',
  'sample_hemolyzed',
  'sample_improper_collection',
] as const
export type StatusDetail = (typeof statusDetails)[number]

const OrderId = z.object({ order_id: Id })
const TransactionId = z.object({ transaction_id: Id })

const OrderEvent = z
  .object({
    id: z.int().describe('Increases within the order.'),
    created_at: Instant,
    status: openEnum(orderStatuses),
    status_detail: openEnum(statusDetails).nullable(),
  })
  .meta({ id: 'OrderEvent' })

const PatientDetails = z
  .object({
    first_name: PersonName.nullish(),
    last_name: PersonName.nullish(),
    dob: personal(z.string(), 'date').meta({ format: 'date-time', example: '1980-05-04T00:00:00+00:00' }),
    gender: openEnum(genders),
    phone_number: PersonPhone.nullish(),
    email: PersonEmail.nullish(),
    medical_proxy: GuarantorOut.nullish(),
    race: personal(openEnum([...races, 'Not Specified'])).nullish(),
    ethnicity: personal(openEnum([...ethnicities, 'Not Specified'])).nullish(),
    sexual_orientation: personal(openEnum([...sexualOrientations, 'Not Specified'])).nullish(),
    gender_identity: personal(openEnum([...genderIdentities, 'Not Specified'])).nullish(),
    household_income: personal(z.int()).nullish(),
    household_size: personal(z.int()).nullish(),
  })
  .meta({ id: 'PatientDetails' })

const PatientAddress = z
  .object({
    receiver_name: PersonName,
    first_line: PersonalText,
    second_line: PersonalText.nullish(),
    city: PersonalText,
    state: Safe,
    zip: PersonalText,
    country: Safe,
    access_notes: PersonalText.nullish(),
    phone_number: PersonPhone.nullish(),
  })
  .meta({ id: 'PatientAddress' })

export const ShippingDetails = z
  .object({
    receiver_name: PersonName,
    first_line: PersonalText,
    second_line: PersonalText.nullish(),
    city: PersonalText,
    state: Safe,
    zip: PersonalText,
    country: Safe,
    phone_number: PersonPhone,
  })
  .meta({ id: 'ShippingDetails' })

export const Shipment = z
  .object({
    id: Id,
    outbound_tracking_number: PersonalText.nullable(),
    outbound_tracking_url: PersonalText.nullable(),
    inbound_tracking_number: PersonalText.nullable(),
    inbound_tracking_url: PersonalText.nullable(),
    outbound_courier: Safe.nullable(),
    inbound_courier: Safe.nullable(),
    notes: PersonalText.nullable(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Shipment' })
export type Shipment = z.output<typeof Shipment>

const OrderDetails = z
  .object({
    type: openEnum(methods),
    data: z
      .object({
        id: Id,
        created_at: Instant,
        updated_at: Instant,
        appointment_id: Id.nullish().describe('Of walk_in_test and at_home_phlebotomy.'),
        shipment: Shipment.nullish().describe('Of testkit.'),
      })
      .nullable(),
  })
  .meta({ id: 'OrderDetails' })

const InTransaction = z
  .object({
    id: Id,
    low_level_status: openEnum(lowLevels).nullable(),
    low_level_status_created_at: Instant.nullable(),
    origin: openEnum(origins).nullable(),
    parent_id: Id.nullable(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'OrderInTransaction' })

export const OrderTransaction = z
  .object({ id: Id, status: openEnum(transactionStatuses), orders: z.array(InTransaction) })
  .meta({ id: 'OrderTransaction' })

const Warning = z.object({ code: Safe, path: z.array(z.union([Safe, z.int()])), message: Safe }).meta({ id: 'OrderWarning' })

export const Order = z
  .object({
    id: Id,
    user_id: Id,
    team_id: Id,
    patient_details: PatientDetails.nullable(),
    patient_address: PatientAddress.nullable(),
    lab_test: LabTest,
    details: OrderDetails,
    sample_id: Safe.nullable(),
    notes: PersonalText.nullable(),
    clinical_notes: PersonalText.nullable(),
    created_at: Instant,
    updated_at: Instant,
    events: z.array(OrderEvent),
    last_event: OrderEvent,
    status: deprecated(openEnum(topLevels).nullable(), 'Use `last_event.status`.'),
    physician: z.object({ first_name: PersonName, last_name: PersonName, npi: PersonalText }).meta({ id: 'OrderPhysician' }).nullable(),
    health_insurance_id: Id.nullable(),
    requisition_form_url: deprecated(Safe.nullable(), 'Use `GET /v3/order/{order_id}/requisition/pdf`.'),
    priority: z.boolean(),
    shipping_details: ShippingDetails.nullable(),
    activate_by: safe(Day).nullable(),
    activate_at: Instant.nullable().describe(
      'The moment at which a held order goes to the lab: the beginning of activate_by where the patient lives.',
    ),
    passthrough: PersonalText.nullable(),
    billing_type: openEnum(billingTypes),
    icd_codes: z.array(Safe).nullable(),
    has_abn: z
      .boolean()
      .describe(
        'Whether the order has an advance beneficiary notice: the payor is Original Medicare and no diagnosis other than screening supports the tests.',
      ),
    interpretation: openEnum(interpretations).nullable(),
    has_missing_results: z.boolean().nullable(),
    expected_result_by_date: safe(Day).nullable(),
    worst_case_result_by_date: safe(Day).nullable(),
    origin: openEnum(origins).nullable(),
    order_transaction: OrderTransaction.nullable(),
    warnings: z.array(Warning).describe('What was accepted although a lab may stumble over it.'),
  })
  .meta({ id: 'Order' })

const OrderReply = z.object({ order: Order, status: Safe, message: Safe }).meta({ id: 'OrderReply' })

const Finding = z
  .object({
    path: z.array(z.union([Safe, z.int()])).describe('Where in the request, beginning with body.'),
    code: Safe.describe('Stable, one for each rule.'),
    message: Safe,
    remedy: Safe,
    severity: openEnum(['hard', 'advisory']).describe('hard: POST /v3/order refuses it; advisory: it becomes a warning on the order.'),
    status: z.int().nullable().describe('With which POST /v3/order refuses it.'),
  })
  .meta({ id: 'OrderFinding' })

export const SimulationFlags = z
  .object({
    interpretation: z.enum(interpretations).default('normal'),
    result_types: z.array(z.enum(resultTypes)).min(1).max(4).nullish().describe('The results take turns with these.'),
    has_missing_results: z.boolean().nullish(),
    partials: z.int().min(0).max(10).nullish().describe('How many partial reports come before the final one.'),
    seed: Text(100).nullish().describe('The same seed gives the same values.'),
    status_detail: z.enum(statusDetails).nullish().describe('Of the last step, where it is a failure or a block.'),
  })
  .meta({ id: 'SimulationFlags' })

/** What the simulator was asked for. */
export type Simulation = z.output<typeof SimulationFlags> & { steps: string[]; delay_seconds: number }

const orders = { auth: 'team', tag: 'Orders' } as const
const noOrder = { 404: 'No such order in the team.' }
const notOrderable = { 400: 'The tests, the lab, the account or the billing do not fit together.', 404: 'No such user in the team.' }

export const activationTypes = ['current', 'scheduled'] as const
const Moment = z.union([Day, InstantIn], { error: 'Must be a date (YYYY-MM-DD) or a date-time with a zone.' })

export const OrderFilter = z.object({
  search_input: Text(200)
    .nullish()
    .describe('Beginning of the name of patient or recipient, of the order id, of the user id or of the sample id.'),
  start_date: Moment.nullish().describe('Created at or after this; a date means its first moment in UTC.'),
  end_date: Moment.nullish().describe('Created at or before this; a date means its last moment in UTC.'),
  updated_start_date: Moment.nullish(),
  updated_end_date: Moment.nullish(),
  status: z
    .array(z.enum(lowLevels as [string, ...string[]]))
    .max(50)
    .nullish()
    .describe('Low-level statuses.'),
  order_key: z.enum(['created_at', 'patient_name', 'last_status']).nullish().describe('Default created_at.'),
  order_direction: z.enum(['asc', 'desc']).nullish().describe('Default desc; asc by patient_name.'),
  order_type: z.array(z.enum(methods)).max(10).nullish(),
  is_critical: z.boolean().nullish(),
  interpretation: z.enum(interpretations).nullish(),
  order_activation_types: z
    .array(z.enum(activationTypes))
    .max(5)
    .nullish()
    .describe('current: without activate_by or on its day or later; scheduled: activate_by lies ahead.'),
  user_id: Id.nullish(),
  patient_name: Text(200).nullish(),
  shipping_recipient_name: Text(200).nullish(),
  order_ids: z.array(Id).max(500).nullish(),
  order_transaction_id: Id.nullish(),
  page: z.int().min(1).max(1_000_000).default(1),
  size: z.int().min(1).max(100).default(50),
})

export const orderEndpoints = {
  createOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order',
    idempotent: true,
    largeBody: true,
    summary: 'Place an order',
    subjects: { user_id: 'body.user_id', order_id: 'result.order.id' },
    description:
      'Goes to the lab at once, or on activate_by. What is named is the lab tests of order_set and the markers of add_on: of one lab, collected by one method.',
    body: NewOrder,
    returns: OrderReply,
    refusals: notOrderable,
  }),
  validateOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/validate',
    reads: true,
    largeBody: true,
    summary: 'Check an order without placing it',
    subjects: { user_id: 'body.user_id' },
    description: 'Takes the body of POST /v3/order, writes nothing and answers everything that is wrong or doubtful at once.',
    body: z.looseObject({}).meta({ id: 'OrderToValidate', description: 'The body of POST /v3/order.' }),
    returns: z.object({ valid: z.boolean(), problems: z.array(Finding) }).meta({ id: 'OrderValidation' }),
  }),
  importOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/import',
    idempotent: true,
    largeBody: true,
    summary: 'Take over an order that the lab has already',
    subjects: { user_id: 'body.user_id', order_id: 'result.order.id' },
    body: ImportOrder,
    returns: OrderReply,
    refusals: notOrderable,
  }),
  createTestkitOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/testkit',
    idempotent: true,
    summary: 'Send out a kit whose patient is not known yet',
    subjects: { user_id: 'body.user_id', order_id: 'result.order.id' },
    body: NewTestkitOrder,
    returns: OrderReply,
    refusals: notOrderable,
  }),
  registerTestkit: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/testkit/register',
    idempotent: true,
    largeBody: true,
    summary: 'Tell whose kit it is',
    subjects: { user_id: ['body.user_id', 'result.order.user_id'], order_id: 'result.order.id' },
    body: RegisterTestkit,
    returns: OrderReply,
    refusals: {
      400: 'The kit cannot be registered any more.',
      404: 'No such kit or user in the team.',
      409: 'The kit is registered already.',
    },
  }),
  resendOrderEvents: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/resend_events',
    summary: 'Tell the latest event of orders once more',
    subjects: { order_id: 'result.order_ids[]' },
    body: z
      .object({
        order_ids: z.array(Id).max(500).nullish(),
        start_at: InstantIn.nullish(),
        end_at: InstantIn.nullish().describe('Default now.'),
      })
      .meta({ id: 'ResendEvents' }),
    returns: z.object({ order_ids: z.array(Id) }).meta({ id: 'ResentEvents' }),
    refusals: { 400: 'More orders than are resent at once.' },
  }),
  listOrders: endpoint({
    ...orders,
    method: 'get',
    path: '/v3/orders',
    aliases: ['/orders'],
    summary: 'List orders',
    subjects: { user_id: ['query.user_id', 'result.orders[].user_id'] },
    query: OrderFilter,
    returns: z
      .object({
        orders: z.array(Order),
        total: z.int(),
        total_is_lower_bound: z.boolean().describe('There are more than total; they are counted up to 10,000.'),
        page: z.int(),
        size: z.int(),
      })
      .meta({ id: 'OrderList' }),
    refusals: { 400: 'More than 10,000 orders were to be sorted by name.', 404: 'No such user in the team.' },
  }),
  getOrder: endpoint({
    ...orders,
    method: 'get',
    path: '/v3/order/{order_id}',
    summary: 'Get an order',
    subjects: { user_id: 'result.user_id', order_id: 'path.order_id' },
    params: OrderId,
    returns: Order,
    refusals: noOrder,
  }),
  rescheduleOrder: endpoint({
    ...orders,
    method: 'patch',
    path: '/v3/order/{order_id}',
    summary: 'Change or clear the day on which a held order goes to the lab',
    subjects: { user_id: 'result.order.user_id', order_id: 'path.order_id' },
    params: OrderId,
    body: z.object({ activate_by: Day.nullable().describe('Today or later; null sends the order at once.') }).meta({ id: 'OrderPatch' }),
    returns: OrderReply,
    refusals: { 400: 'The order is no longer held, was created without activate_by, or the day has passed.', ...noOrder },
  }),
  cancelOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/{order_id}/cancel',
    summary: 'Cancel an order',
    subjects: { user_id: 'result.order.user_id', order_id: 'path.order_id' },
    params: OrderId,
    returns: OrderReply,
    refusals: { 400: 'The order can no longer be cancelled.', ...noOrder },
  }),
  completeDraw: endpoint({
    ...orders,
    method: 'patch',
    path: '/v3/order/{order_id}/draw_completed',
    summary: 'Report that the sample of an on-site collection was drawn',
    subjects: { user_id: 'result.order.user_id', order_id: 'path.order_id' },
    params: OrderId,
    returns: OrderReply,
    refusals: { 400: 'The order is not collected on site, or not at that step.', ...noOrder },
  }),
  simulateOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/{order_id}/test',
    sandbox: true,
    summary: 'Walk an order through its steps',
    subjects: { order_id: 'path.order_id' },
    description: 'Without final_status to completed; one event for each step. With a delay the steps come that many seconds apart.',
    params: OrderId,
    query: z.object({
      final_status: z.enum(orderStatuses as [string, ...string[]]).nullish(),
      delay: z.int().min(0).max(86_400).nullish().describe('Seconds between two steps.'),
    }),
    body: SimulationFlags.nullish(),
    returns: Safe,
    refusals: { 400: 'The status cannot be reached from where the order stands.', ...noOrder },
  }),
  getOrderTransaction: endpoint({
    ...orders,
    method: 'get',
    path: '/v3/order_transaction/{transaction_id}',
    summary: 'Get the orders of a transaction',
    subjects: { user_id: 'result.orders[].user_id', transaction_id: 'path.transaction_id' },
    params: TransactionId,
    returns: z
      .object({
        id: Id,
        team_id: Id,
        status: openEnum(transactionStatuses),
        orders: z.array(
          z
            .object({
              id: Id,
              origin: openEnum(origins).nullable(),
              parent_id: Id.nullable(),
              last_status: openEnum(lowLevels),
              last_status_created_at: Instant,
              created_at: Instant,
              updated_at: Instant,
            })
            .meta({ id: 'OrderSummary' }),
        ),
      })
      .meta({ id: 'OrderTransactionDetail' }),
    refusals: { 404: 'No such transaction in the team.' },
  }),
}
