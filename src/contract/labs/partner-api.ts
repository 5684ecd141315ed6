import { z } from 'zod'
import { AddressOut, Cursor, GuarantorOut, genders, Id, Instant, openEnum, RecentIn, SampleId, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, PersonEmail, PersonName, PersonPhone, personal, Safe } from '../personal.ts'
import { billingTypes, Lab, sampleTypes } from './catalog.ts'
import { methods, stepNames } from './lifecycle.ts'
import { origins, Shipment, ShippingDetails, statusDetails } from './orders.ts'
import { interpretations, NewResults } from './results.ts'

const OrderId = z.object({ order_id: Id })

/** Steps that only Assay or the customer takes, or that follow from results. A lab cannot report them. */
const unreportableSteps = [
  'ordered',
  'awaiting_registration',
  'registered',
  'requisition_bypassed',
  'partial_results',
  'completed',
  'corrected',
]
const reportableSteps = stepNames.filter((step) => !unreportableSteps.includes(step)) as [string, ...string[]]

const shipmentText = z.string().max(300, 'Must have at most 300 characters.').nullish()

export const StepReport = z
  .object({
    status: z
      .enum(reportableSteps)
      .describe(
        'A step of the collection method. It can be several steps ahead of the order. A report that arrives late or twice changes nothing.',
      ),
    status_detail: z.enum(statusDetails).nullish(),
    sample_id: SampleId.nullish().describe("The lab's specimen ID, unique within the lab."),
    collected_at: RecentIn.nullish().describe('When the specimen was collected.'),
    shipment: z
      .object({
        outbound_tracking_number: shipmentText,
        outbound_tracking_url: shipmentText,
        inbound_tracking_number: shipmentText,
        inbound_tracking_url: shipmentText,
        outbound_courier: shipmentText,
        inbound_courier: shipmentText,
        notes: shipmentText,
      })
      .meta({ id: 'ShipmentReport' })
      .nullish(),
  })
  .meta({ id: 'StepReport' })

export const LabOrderFilter = z.object({
  status: z
    .array(z.enum(stepNames as [string, ...string[]]))
    .max(50)
    .nullish(),
  sample_id: Text(100).nullish(),
  limit: z.int().min(1).max(100).default(50),
  next_cursor: Cursor,
})

const LabOrder = z
  .object({
    id: Id,
    sample_id: Safe.nullable(),
    status: openEnum(stepNames),
    method: openEnum(methods),
    origin: openEnum(origins),
    parent_id: Id.nullable(),
    created_at: Instant,
    updated_at: Instant,
    collected_at: Instant.nullable(),
    priority: z.boolean(),
    billing_type: openEnum(billingTypes),
    lab_account_id: Id.nullable(),
    interpretation: openEnum(interpretations).nullable(),
    result_version: z.int().describe('The number of reports that Assay has accepted.'),
    lab_test: z.object({ id: Id, name: Safe, sample_type: openEnum(sampleTypes), fasting: z.boolean() }).meta({ id: 'LabOrderTest' }),
    markers: z.array(
      z
        .object({
          id: z.int(),
          name: Safe,
          provider_id: Safe.describe("The lab's code for the marker."),
          loinc: Safe.nullable(),
          icd_codes: z.array(Safe).describe('The diagnoses of the marker, or those of the order.'),
        })
        .meta({ id: 'LabOrderMarker' }),
    ),
    aoe_answers: z.array(z.object({ marker_id: z.int(), question_id: z.int(), answer: PersonalText }).meta({ id: 'LabOrderAnswer' })),
    icd_codes: z.array(Safe).nullable(),
    clinical_notes: PersonalText.nullable(),
    patient_details: z
      .object({
        first_name: PersonName.describe('Written with the letters and length that the systems of the lab accept.'),
        last_name: PersonName,
        dob: personal(z.string(), 'date'),
        gender: openEnum(genders),
        phone_number: PersonPhone,
        email: PersonEmail,
        medical_proxy: GuarantorOut.nullish(),
      })
      .meta({ id: 'LabOrderPatient' })
      .nullable()
      .describe('Null for a kit that is not registered yet.'),
    patient_address: AddressOut.nullable(),
    shipping_details: ShippingDetails.nullable(),
    shipment: Shipment.nullable(),
    physician: z.object({ first_name: PersonName, last_name: PersonName, npi: PersonalText }).meta({ id: 'LabOrderPhysician' }).nullable(),
  })
  .meta({ id: 'LabOrder' })

const lab = { auth: 'lab', tag: 'Partner lab API' } as const
const noOrder = { 404: 'No such order was sent to the lab.' }

export const partnerApiEndpoints = {
  getOwnLab: endpoint({
    ...lab,
    method: 'get',
    path: '/lab/v1/lab',
    summary: 'Get the lab of the key',
    subjects: {},
    description: 'Use it to check that a lab key works.',
    returns: Lab,
  }),
  listLabOrders: endpoint({
    ...lab,
    method: 'get',
    path: '/lab/v1/orders',
    summary: 'List the orders of the lab',
    subjects: { user_id: 'result.orders[].user_id' },
    description:
      'Returns orders that were sent to the lab, in the order of their last change. The list ends two seconds in the past, so that no change is skipped. Every response has a next_cursor; poll with it to see new and changed orders. Scheduled orders appear on their day.',
    query: LabOrderFilter,
    returns: z.object({ orders: z.array(LabOrder), next_cursor: Safe.nullable() }).meta({ id: 'LabOrderList' }),
  }),
  getLabOrder: endpoint({
    ...lab,
    method: 'get',
    path: '/lab/v1/orders/{order_id}',
    summary: 'Get an order of the lab',
    subjects: { user_id: 'result.user_id', order_id: 'path.order_id', team_id: 'result.team_id' },
    params: OrderId,
    returns: LabOrder,
    refusals: noOrder,
  }),
  reportLabStep: endpoint({
    ...lab,
    method: 'post',
    path: '/lab/v1/orders/{order_id}/status',
    summary: 'Report a step',
    description: 'Reports a step of the lab or its courier. Emits `labtest.order.updated` to the customer.',
    subjects: { user_id: 'result.user_id', order_id: 'path.order_id', team_id: 'result.team_id' },
    params: OrderId,
    body: StepReport,
    returns: LabOrder,
    refusals: { 400: 'The lifecycle has no such transition, or the lab does not support redraws.', ...noOrder },
  }),
  reportLabResults: endpoint({
    ...lab,
    method: 'post',
    path: '/lab/v1/orders/{order_id}/results',
    summary: 'Report results',
    subjects: { user_id: 'result.user_id', order_id: 'path.order_id', team_id: 'result.team_id' },
    description:
      'A report is partial, final or corrected and needs to contain only new results. Assay stores every report. An identical report changes nothing. A result that becomes critical emits `labtest.result.critical`.',
    params: OrderId,
    body: NewResults,
    returns: LabOrder,
    refusals: { 400: 'The order no longer accepts results. Recreate it.', ...noOrder },
  }),
  recreateLabOrder: endpoint({
    ...lab,
    method: 'post',
    path: '/lab/v1/orders/{order_id}/recreate',
    summary: 'Recreate an order',
    subjects: { user_id: 'result.user_id', order_id: 'path.order_id', team_id: 'result.team_id', id: 'result.id' },
    description:
      'Use it if a specimen was tested although its order was canceled or had failed. Returns the new order, in the same transaction. Report the results for the new order.',
    params: OrderId,
    returns: LabOrder,
    refusals: { 400: 'The order still accepts results.', ...noOrder },
  }),
}
