import { z } from 'zod'
import { Cursor, Id, Instant, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe, safe } from '../personal.ts'
import { shippingSteps } from './lifecycle.ts'
import { OrderReply } from './orders.ts'

export const directions = ['outbound', 'inbound'] as const
export type Direction = (typeof directions)[number]

/** The states of a parcel that couriers report. */
export const scanStatuses = ['in_transit', 'out_for_delivery', 'delivered', 'delayed', 'undeliverable', 'lost'] as const
export type ScanStatus = (typeof scanStatuses)[number]

const TrackingNumber = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9 -]{3,59}$/, 'Must have 4 to 60 letters and digits.')
  .transform((text) => text.replaceAll(/[ -]/g, '').toUpperCase())

/** The body of a tracking notification in the generic format. */
export const Scan = z.object({
  tracking_number: TrackingNumber,
  status: z.enum(scanStatuses),
})
export type Scan = z.output<typeof Scan>

/** The formats of notifications. Another format needs an adapter. */
export const courierFormats = ['generic'] as const

const CourierCode = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'Must be 1 to 40 lower-case letters, digits, - or _.')

export const isCourierCode = (text: string) => CourierCode.safeParse(text).success

const TrackingUrl = z
  .url({ protocol: /^https$/, error: 'Must be an https URL.' })
  .max(300)
  .refine((text) => text.includes('{number}'), 'Must contain {number}, which stands for the tracking number.')

const NewCourier = z
  .object({
    name: Text(60).describe('The name that orders show.'),
    format: z.enum(courierFormats).default('generic').describe('The format of its tracking notifications.'),
    tracking_url: TrackingUrl.nullish().describe('The page of a parcel, with {number} in place of its tracking number.'),
    secret: z
      .string()
      .max(200)
      .nullish()
      .describe(
        '`whsec_` followed by 24 to 75 bytes in base64. If absent, the courier keeps its secret, and a new one gets a random secret.',
      ),
  })
  .meta({ id: 'NewCourier' })

const courierFields = {
  code: Safe,
  name: Safe,
  format: openEnum(courierFormats),
  tracking_url: Safe.nullable(),
  webhook_url: Safe.describe('Where the courier sends its tracking notifications.'),
  updated_at: Instant,
}
const Courier = z.object(courierFields).meta({ id: 'Courier' })
const CourierWithSecret = z
  .object({ ...courierFields, secret: Safe.describe('Signs the notifications.') })
  .meta({ id: 'CourierWithSecret' })

const Days = (what: string) => z.int().min(1).max(365).nullable().describe(`${what} Null means no limit.`)
const limitFields = {
  to_customer_days: Days('On the way to the patient.'),
  with_customer_days: Days('With the patient.'),
  to_lab_days: Days('On the way to the lab.'),
}
const KitLimits = z.object(limitFields).meta({ id: 'KitLimits' })
const NewKitLimits = z.object(limitFields).meta({ id: 'NewKitLimits' })
export type KitLimits = z.output<typeof KitLimits>

const Label = z
  .object({
    courier: CourierCode.describe('The code of a courier of the team.'),
    tracking_number: TrackingNumber,
  })
  .meta({ id: 'NewLabel' })

export const NewShipment = z
  .object({
    outbound: Label.nullish().describe('The label of the kit to the patient.'),
    inbound: Label.nullish().describe('The return label to the lab.'),
    notes: Text(300).nullish(),
  })
  .refine(({ outbound, inbound, notes }) => outbound || inbound || notes, 'Send outbound, inbound or notes.')
  .meta({ id: 'NewShipment' })

const OverdueKit = z
  .object({
    order_id: Id,
    user_id: Id,
    sample_id: Safe.nullable(),
    status: Safe.describe('The status of the order.'),
    since: Instant.describe('When the order reached the status.'),
    overdue_at: Instant.describe('When the kit became overdue.'),
  })
  .meta({ id: 'OverdueKit' })

const kits = { auth: 'team', tag: 'Kits' } as const
const courier = { ...kits, path: '/v3/courier/{courier}', subjects: {}, params: z.object({ courier: safe(CourierCode) }) } as const
const limits = { ...kits, path: '/v3/kit_limits', subjects: {}, returns: KitLimits } as const
const ofOrder = {
  ...kits,
  params: z.object({ order_id: Id }),
  returns: OrderReply,
  subjects: { user_id: 'result.order.user_id', order_id: 'path.order_id' },
} as const
const noOrder = { 404: 'No such order in the team.' }

export const kitEndpoints = {
  listCouriers: endpoint({
    ...kits,
    method: 'get',
    path: '/v3/courier',
    summary: 'List the couriers of the team',
    subjects: {},
    returns: z.object({ couriers: z.array(Courier) }).meta({ id: 'CourierList' }),
  }),
  putCourier: endpoint({
    ...courier,
    grantsAccess: true,
    method: 'put',
    summary: 'Create or change a courier',
    description: 'Returns the secret with which the courier, or your integration of it, signs tracking notifications.',
    body: NewCourier,
    returns: CourierWithSecret,
    refusals: { 400: 'The secret is not valid.' },
  }),
  deleteCourier: endpoint({
    ...courier,
    method: 'delete',
    summary: 'Delete a courier',
    description: 'Its notifications are rejected from then on. Shipments keep their tracking numbers.',
    status: 204,
    returns: z.void(),
    refusals: { 404: 'The team has no such courier.' },
  }),
  getKitLimits: endpoint({
    ...limits,
    method: 'get',
    summary: 'Get the limits after which a kit is overdue',
    description: 'Each limit is a number of days without a new step.',
  }),
  putKitLimits: endpoint({
    ...limits,
    method: 'put',
    summary: 'Set the limits after which a kit is overdue',
    description:
      'An overdue kit in transit becomes problem_in_transit_customer or problem_in_transit_lab. Elsewhere, Assay emits `labtest.kit.alert`. Applies to kits that are already underway.',
    body: NewKitLimits,
  }),
  listOverdueKits: endpoint({
    ...kits,
    method: 'get',
    path: '/v3/kit/overdue',
    summary: 'List overdue kits',
    description: 'Lists the kits that are past a limit, the longest overdue first. A kit leaves the list with its next step.',
    subjects: { user_id: 'result.kits[].user_id', order_id: 'result.kits[].order_id' },
    query: z.object({ next_cursor: Cursor }),
    returns: z.object({ kits: z.array(OverdueKit), next_cursor: Safe.nullable() }).meta({ id: 'OverdueKitList' }),
  }),
  putShipment: endpoint({
    ...ofOrder,
    method: 'put',
    path: '/v3/order/{order_id}/shipment',
    summary: 'Set the labels of a kit',
    description: 'Tracking notifications of the courier then move the order. Emits `labtest.order.updated`.',
    body: NewShipment,
    refusals: {
      400: 'The order is not a kit, or the courier is unknown.',
      409: 'Another order has this tracking number.',
      ...noOrder,
    },
  }),
  reportShipment: endpoint({
    ...ofOrder,
    method: 'post',
    path: '/v3/order/{order_id}/shipment/status',
    summary: 'Report where a kit is',
    description:
      'For steps that the courier does not report, such as a lost parcel. A lost kit that still reaches the lab continues in a new order of the same transaction. Emits `labtest.order.updated`.',
    body: z.object({ status: z.enum(shippingSteps) }).meta({ id: 'KitStatus' }),
    refusals: { 400: 'The order is not a kit, or the lifecycle has no such transition.', ...noOrder },
  }),
}
