import { z } from 'zod'
import {
  Day,
  DayIn,
  DayOrInstant,
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
import { methods, orderStatuses, phases, stepNames } from './lifecycle.ts'
import { ImportOrder, NewOrder, NewTestkitOrder, RegisterTestkit } from './new-order.ts'
import { interpretations, resultTypes } from './results.ts'

export const origins = ['initial', 'redraw', 'recreation'] as const
const transactionStatuses = ['active', 'completed', 'cancelled'] as const
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
    id: z.int().describe('Increases with each event of the order.'),
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

const recipient = {
  receiver_name: PersonName,
  first_line: PersonalText,
  second_line: PersonalText.nullish(),
  city: PersonalText,
  state: Safe,
  zip: PersonalText,
  country: Safe,
}

const PatientAddress = z
  .object({
    ...recipient,
    access_notes: PersonalText.nullish(),
    phone_number: PersonPhone.nullish(),
  })
  .meta({ id: 'PatientAddress' })

export const ShippingDetails = z
  .object({
    ...recipient,
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
        appointment_id: Id.nullish().describe('Set for walk_in_test and at_home_phlebotomy.'),
        shipment: Shipment.nullish().describe('Set for testkit.'),
      })
      .nullable(),
  })
  .meta({ id: 'OrderDetails' })

const TransactionOrder = z
  .object({
    id: Id,
    low_level_status: openEnum(stepNames).nullable(),
    low_level_status_created_at: Instant.nullable(),
    origin: openEnum(origins).nullable(),
    parent_id: Id.nullable(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'OrderInTransaction' })

export const OrderTransaction = z
  .object({ id: Id, status: openEnum(transactionStatuses), orders: z.array(TransactionOrder) })
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
    status: deprecated(openEnum(phases).nullable(), 'Use `last_event.status`.'),
    physician: z.object({ first_name: PersonName, last_name: PersonName, npi: PersonalText }).meta({ id: 'OrderPhysician' }).nullable(),
    health_insurance_id: Id.nullable(),
    requisition_form_url: deprecated(Safe.nullable(), 'Use `GET /v3/order/{order_id}/requisition/pdf`.'),
    priority: z.boolean(),
    shipping_details: ShippingDetails.nullable(),
    activate_by: safe(Day).nullable(),
    activate_at: Instant.nullable().describe(
      "When Assay sends a scheduled order to the lab: the start of activate_by in the patient's time zone. Null for other orders.",
    ),
    passthrough: PersonalText.nullable(),
    billing_type: openEnum(billingTypes),
    icd_codes: z.array(Safe).nullable().describe('The diagnoses of tests without their own.'),
    icd_codes_by_test: z
      .array(
        z.object({ lab_test_id: Id.nullable(), marker_id: z.int().nullable(), icd_codes: z.array(Safe) }).meta({ id: 'TestDiagnoses' }),
      )
      .nullable()
      .describe('The diagnoses of single tests.'),
    has_abn: z
      .boolean()
      .describe(
        'Whether the order has an advance beneficiary notice. True if the payor is Original Medicare and no diagnosis other than screening is given.',
      ),
    interpretation: openEnum(interpretations).nullable(),
    has_missing_results: z.boolean().nullable(),
    expected_result_by_date: safe(Day).nullable(),
    worst_case_result_by_date: safe(Day).nullable(),
    origin: openEnum(origins).nullable(),
    order_transaction: OrderTransaction.nullable(),
    warnings: z.array(Warning).describe('Problems that did not prevent the order.'),
  })
  .meta({ id: 'Order' })

export const OrderReply = z.object({ order: Order, status: Safe, message: Safe }).meta({ id: 'OrderReply' })

const Finding = z
  .object({
    path: z.array(z.union([Safe, z.int()])).describe('The field of the request, starting with `body`.'),
    code: Safe.describe('A stable code for the check. See /docs/order-checks.'),
    message: Safe,
    remedy: Safe,
    severity: openEnum(['hard', 'advisory']).describe('hard: POST /v3/order rejects the order. advisory: the order gets a warning.'),
    status: z.int().nullable().describe('The HTTP status with which POST /v3/order rejects the order. Null for warnings.'),
  })
  .meta({ id: 'OrderFinding' })

export const SimulationFlags = z
  .object({
    interpretation: z.enum(interpretations).default('normal'),
    result_types: z.array(z.enum(resultTypes)).min(1).max(4).nullish().describe('The types of the results, used in turn.'),
    has_missing_results: z.boolean().nullish(),
    partials: z.int().min(0).max(10).nullish().describe('The number of partial reports before the final one.'),
    seed: Text(100).nullish().describe('The same seed produces the same values.'),
    status_detail: z.enum(statusDetails).nullish().describe('The reason for the last step, if it is a failure or a block.'),
  })
  .meta({ id: 'SimulationFlags' })

export type Simulation = z.output<typeof SimulationFlags> & { steps: string[]; delay_seconds: number }

const orders = { auth: 'team', tag: 'Orders' } as const
const noOrder = { 404: 'No such order in the team.' }
const notOrderable = { 400: 'The tests, the lab, the lab account or the billing do not fit together.', 404: 'No such user in the team.' }

const activationTypes = ['current', 'scheduled'] as const

export const OrderFilter = z.object({
  search_input: Text(200)
    .nullish()
    .describe('A prefix of the patient name, the recipient name, the order ID, the user ID or the specimen ID.'),
  start_date: DayOrInstant.nullish().describe('Created at or after this time. A date means the start of the day in UTC.'),
  end_date: DayOrInstant.nullish().describe('Created at or before this time. A date means the end of the day in UTC.'),
  updated_start_date: DayOrInstant.nullish(),
  updated_end_date: DayOrInstant.nullish(),
  status: z
    .array(z.enum(stepNames as [string, ...string[]]))
    .max(50)
    .nullish()
    .describe('Steps, such as requisition_created. Repeat the parameter for several.'),
  order_key: z.enum(['created_at', 'patient_name', 'last_status']).nullish().describe('Default created_at.'),
  order_direction: z.enum(['asc', 'desc']).nullish().describe('Default desc, or asc when sorted by patient_name.'),
  order_type: z.array(z.enum(methods)).max(10).nullish(),
  is_critical: z.boolean().nullish(),
  interpretation: z.enum(interpretations).nullish(),
  order_activation_types: z
    .array(z.enum(activationTypes))
    .max(5)
    .nullish()
    .describe('current: no activate_by, or activate_by is today or earlier. scheduled: activate_by is in the future.'),
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
    summary: 'Create an order',
    subjects: { user_id: 'body.user_id', order_id: 'result.order.id' },
    description:
      'Assay sends the order to the lab immediately, or on the day in activate_by. All lab tests and add-on markers must belong to one lab and one collection method. The patient details also replace the demographics of the user. Emits `labtest.order.created`.',
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
    summary: 'Validate an order',
    subjects: { user_id: 'body.user_id' },
    description: 'Takes the body of POST /v3/order, stores nothing and returns all problems: errors and warnings.',
    body: z.looseObject({}).meta({ id: 'OrderValidationRequest', description: 'The body of POST /v3/order.' }),
    returns: z.object({ valid: z.boolean(), problems: z.array(Finding) }).meta({ id: 'OrderValidation' }),
  }),
  importOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/import',
    idempotent: true,
    largeBody: true,
    summary: 'Import an order',
    subjects: { user_id: 'body.user_id', order_id: 'result.order.id' },
    description:
      'Use it for an order that the lab has already accepted outside Assay. Assay does not send the order to the lab and does not check its address and AoE answers again. The order starts in `requisition_bypassed`. Emits `labtest.order.created` and `labtest.order.updated`.',
    body: ImportOrder,
    returns: OrderReply,
    refusals: notOrderable,
  }),
  createTestkitOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/testkit',
    idempotent: true,
    summary: 'Create a test kit order',
    subjects: { user_id: 'body.user_id', order_id: 'result.order.id' },
    description:
      'Ships a kit before the patient is known. Register the patient later with `POST /v3/order/testkit/register`. Emits `labtest.order.created`.',
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
    summary: 'Register a test kit',
    subjects: { user_id: ['body.user_id', 'result.order.user_id'], order_id: 'result.order.id' },
    description:
      'Registers the patient of a kit that was ordered with `POST /v3/order/testkit`. The sample_id identifies the kit. Emits `labtest.order.updated`.',
    body: RegisterTestkit,
    returns: OrderReply,
    refusals: {
      400: 'The kit can no longer be registered.',
      404: 'No such kit or user in the team.',
      409: 'The kit is already registered.',
    },
  }),
  resendOrderEvents: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/resend_events',
    summary: 'Resend order events',
    subjects: { order_id: 'result.order_ids[]' },
    description:
      'Emits the latest event of each order again, with its current data and a new event_id. Send order_ids, or start_at and end_at to select the orders that changed in that period. The period is at most 60 days. At most 1,000 orders per request.',
    body: z
      .object({
        order_ids: z.array(Id).max(500).nullish(),
        start_at: InstantIn.nullish(),
        end_at: InstantIn.nullish().describe('Default: now.'),
      })
      .meta({ id: 'ResendEvents' }),
    returns: z.object({ order_ids: z.array(Id) }).meta({ id: 'ResentEvents' }),
    refusals: { 400: 'More than 1,000 orders match.' },
  }),
  listOrders: endpoint({
    ...orders,
    method: 'get',
    path: '/v3/orders',
    aliases: ['/orders'],
    summary: 'List orders',
    subjects: { user_id: ['query.user_id', 'result.orders[].user_id'] },
    description: 'Filters combine with AND. Names are encrypted and searched through a blind index.',
    query: OrderFilter,
    returns: z
      .object({
        orders: z.array(Order),
        total: z.int(),
        total_is_lower_bound: z.boolean().describe('True if there are more orders than `total`. Assay counts up to 10,000.'),
        page: z.int(),
        size: z.int(),
      })
      .meta({ id: 'OrderList' }),
    refusals: { 400: 'More than 10,000 orders match a request that sorts by name.', 404: 'No such user in the team.' },
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
    summary: 'Reschedule an order',
    subjects: { user_id: 'result.order.user_id', order_id: 'path.order_id' },
    description:
      'Changes the day on which Assay sends a scheduled order to the lab. The order must have been created with activate_by, and must be unsent or awaiting registration. Null sends the order in the same request, and the response shows the status after that. Emits `labtest.order.updated` if the day changes, and again for the status.',
    params: OrderId,
    body: z
      .object({ activate_by: DayIn.nullable().describe('Today or later. Null sends the order immediately.') })
      .meta({ id: 'OrderPatch' }),
    returns: OrderReply,
    refusals: { 400: 'The order is no longer scheduled, was created without activate_by, or the day has passed.', ...noOrder },
  }),
  cancelOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/{order_id}/cancel',
    summary: 'Cancel an order',
    subjects: { user_id: 'result.order.user_id', order_id: 'path.order_id' },
    description:
      'Works until the collection method passes its last cancellable step; see /docs/lifecycle. Canceling a canceled order returns 200 and changes nothing. Emits `labtest.order.updated`.',
    params: OrderId,
    returns: OrderReply,
    refusals: { 400: 'The order can no longer be canceled.', ...noOrder },
  }),
  completeDraw: endpoint({
    ...orders,
    method: 'patch',
    path: '/v3/order/{order_id}/draw_completed',
    summary: 'Mark a draw as completed',
    subjects: { user_id: 'result.order.user_id', order_id: 'path.order_id' },
    description: 'For orders with on_site_collection, once your staff has drawn the specimen. Emits `labtest.order.updated`.',
    params: OrderId,
    returns: OrderReply,
    refusals: { 400: 'The order is not collected on site, or is not at a step that allows a draw.', ...noOrder },
  }),
  simulateOrder: endpoint({
    ...orders,
    method: 'post',
    path: '/v3/order/{order_id}/test',
    sandbox: true,
    summary: 'Simulate an order',
    subjects: { order_id: 'path.order_id' },
    description:
      'Advances the order step by step to final_status, or to completed. Each step emits `labtest.order.updated`. With `delay`, the steps are that many seconds apart on the clock of the team.',
    params: OrderId,
    query: z.object({
      final_status: z.enum(orderStatuses as [string, ...string[]]).nullish(),
      delay: z.int().min(0).max(86_400).nullish().describe('The seconds between two steps.'),
    }),
    body: SimulationFlags.nullish(),
    returns: Safe,
    refusals: { 400: 'The status cannot be reached from the current status of the order.', ...noOrder },
  }),
  getOrderTransaction: endpoint({
    ...orders,
    method: 'get',
    path: '/v3/order_transaction/{transaction_id}',
    summary: 'Get an order transaction',
    description: 'A transaction groups an order with its redraw or recreation.',
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
              last_status: openEnum(stepNames),
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
