import { z } from 'zod'
import { DayIn, Id, Instant, openEnum, Text } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, personal, Safe } from '../personal.ts'
import { LabName, LngLat, radii, ZipCode } from './coverage.ts'

export const appointmentTypes = ['phlebotomy', 'patient_service_center'] as const
export type AppointmentType = (typeof appointmentTypes)[number]
export const appointmentStatuses = ['confirmed', 'pending', 'reserved', 'in_progress', 'completed', 'cancelled'] as const
export type AppointmentStatus = (typeof appointmentStatuses)[number]
export const appointmentSteps = ['pending', 'reserved', 'scheduled', 'completed', 'cancelled', 'in_progress'] as const

/** An address in a request. */
const AddressIn = z
  .object({
    first_line: Text(200),
    second_line: Text(200).nullish(),
    city: Text(100),
    state: Text(60),
    zip_code: z.string().regex(/^\d{5}(-\d{4})?$/, 'Must be a ZIP code of five digits, optionally with four more.'),
    unit: deprecated(Text(100).nullish(), 'Use `second_line`.'),
    access_notes: Text(1000).nullish(),
  })
  .meta({ id: 'VisitAddressInput' })
export type AddressIn = z.output<typeof AddressIn>

const PersonalAddress = z
  .object({
    first_line: PersonalText,
    second_line: PersonalText.nullish(),
    city: PersonalText,
    state: Safe,
    zip_code: PersonalText,
    access_notes: PersonalText.nullish(),
  })
  .meta({ id: 'VisitAddress' })

const SiteAddress = z
  .object({ first_line: Safe, second_line: Safe.nullish(), city: Safe, state: Safe, zip_code: Safe })
  .meta({ id: 'SiteAddress' })

const EventData = z
  .object({
    origin: Safe.optional().describe('Who made the change: customer, provider, order or automatic.'),
    is_reschedule: z.boolean().optional(),
    cancellation_reason: Safe.optional(),
  })
  .meta({ id: 'AppointmentEventData' })
export type AppointmentEventData = z.output<typeof EventData>

export const Appointment = z
  .object({
    id: Id,
    user_id: Id,
    order_id: Id,
    order_transaction_id: Id.nullish(),
    address: PersonalAddress,
    location: z.object({ lng: personal(z.number()), lat: personal(z.number()) }),
    start_at: Instant.nullable(),
    end_at: Instant.nullable(),
    iana_timezone: Safe.nullish(),
    type: openEnum(appointmentTypes),
    provider: Safe,
    status: openEnum(appointmentStatuses),
    provider_id: Safe.describe('The code of the collection site or phlebotomist. Empty while a requested visit has no time.'),
    external_id: Safe.nullish(),
    can_reschedule: z.boolean(),
    appointment_notes: PersonalText.nullish(),
    event_status: openEnum(appointmentSteps),
    event_data: EventData.nullish(),
    events: z.array(z.object({ created_at: Instant, status: openEnum(appointmentSteps), data: EventData.nullish() })),
  })
  .meta({ id: 'Appointment' })

export const Slots = z
  .object({
    slots: z.array(
      z
        .object({
          location: z
            .object({
              location: LngLat,
              distance: z.int().nullable().describe('In miles. Null if it is unknown.'),
              address: SiteAddress,
              code: Safe,
              name: Safe,
              iana_timezone: Safe.nullable(),
            })
            .meta({ id: 'VisitLocation' })
            .nullable(),
          date: Safe.meta({ format: 'date' }).describe('The day at the place of the visit.'),
          slots: z.array(
            z
              .object({
                booking_key: Safe,
                start: Instant,
                end: Instant,
                expires_at: Instant,
                price: z.number().describe('In US cents.'),
                is_priority: z.boolean(),
                num_appointments_available: z.int(),
              })
              .meta({ id: 'TimeSlot' }),
          ),
        })
        .meta({ id: 'DaySlots' }),
    ),
    timezone: Safe.nullable(),
  })
  .meta({ id: 'AvailableSlots' })

const notes = { appointment_notes: Text(1000).nullish() }
const BookingKey = Text(300).describe('The booking_key of a free slot.')

const Booking = z
  .object({
    booking_key: BookingKey,
    ...notes,
    async_confirmation: z.boolean().default(false).describe('Accepted, without effect: Assay confirms a booking immediately.'),
    sync_confirmation_timeout_millisecond: z.int().min(1000).max(10_000).nullish(),
    async_confirmation_timeout_millisecond: z.int().min(60_000).max(172_800_000).nullish(),
  })
  .meta({ id: 'NewAppointment' })

const Reschedule = z.object({ booking_key: BookingKey, ...notes }).meta({ id: 'AppointmentReschedule' })

const CancellationReason = z.object({ id: Id, name: Safe, is_refundable: z.boolean() }).meta({ id: 'CancellationReason' })

const appointments = { auth: 'team', tag: 'Appointments' } as const
const ofOrder = {
  ...appointments,
  params: z.object({ order_id: Id }),
  returns: Appointment,
  subjects: { user_id: 'result.user_id', order_id: 'path.order_id' },
} as const
const notHome = { 404: 'No such order in the team, it is not collected at home, or it has no appointment.' }
const notCenter = { 404: 'No such order in the team, its specimen is not collected at a site, or it has no appointment.' }
const notBookable = {
  400: 'The slot is taken or past, the booking_key is invalid, or the order cannot have a visit now.',
  409: 'The order already has an active appointment.',
}
const notMovable = { 400: 'The slot is taken or past, the booking_key is invalid, or the visit has begun.' }
const notActive = { 400: 'The cancellation reason is unknown, or the visit has ended.' }
export const startDate = { start_date: DayIn.nullish().describe('The first of 14 days. Default: today at the place of the visit.') }
const EMITS_CREATED = 'Emits `labtest.appointment.created`, and `labtest.order.updated` for each step of the order.'
const EMITS_UPDATED = 'Emits `labtest.appointment.updated`, and `labtest.order.updated` if the order takes a step.'

export const appointmentEndpoints = {
  listHomeSlots: endpoint({
    ...appointments,
    method: 'post',
    path: '/v3/order/phlebotomy/appointment/availability',
    reads: true,
    summary: 'List free slots for a visit at home',
    description: 'Returns 14 days of slots of the phlebotomists who visit patients at the address.',
    subjects: {},
    query: z.object(startDate),
    body: AddressIn,
    returns: Slots,
    refusals: { 400: 'start_date has passed.' },
  }),
  bookHomeVisit: endpoint({
    ...ofOrder,
    method: 'post',
    path: '/v3/order/{order_id}/phlebotomy/appointment/book',
    idempotent: true,
    summary: 'Book a visit at home',
    description: `The visit takes place at the patient's address. ${EMITS_CREATED}`,
    body: Booking,
    refusals: { ...notBookable, ...notHome },
  }),
  requestHomeVisit: endpoint({
    ...ofOrder,
    method: 'post',
    path: '/v3/order/{order_id}/phlebotomy/appointment/request',
    summary: 'Request a visit at home',
    description: `For services that propose a time themselves. The appointment is pending until then. ${EMITS_CREATED}`,
    body: z
      .object({ address: AddressIn, provider: LabName.describe('The name of a service in the area.'), ...notes })
      .meta({ id: 'AppointmentRequest' }),
    refusals: { ...notBookable, ...notHome },
  }),
  rescheduleHomeVisit: endpoint({
    ...ofOrder,
    method: 'patch',
    path: '/v3/order/{order_id}/phlebotomy/appointment/reschedule',
    summary: 'Reschedule a visit at home',
    description: EMITS_UPDATED,
    body: Reschedule,
    refusals: { ...notMovable, ...notHome },
  }),
  cancelHomeVisit: endpoint({
    ...ofOrder,
    method: 'patch',
    path: '/v3/order/{order_id}/phlebotomy/appointment/cancel',
    summary: 'Cancel a visit at home',
    description: EMITS_UPDATED,
    body: z.object({ cancellation_reason_id: Id, notes: Text(1000).nullish() }).meta({ id: 'HomeVisitCancellation' }),
    refusals: { ...notActive, ...notHome },
  }),
  listHomeCancellationReasons: endpoint({
    ...appointments,
    method: 'get',
    path: '/v3/order/phlebotomy/appointment/cancellation-reasons',
    unaudited: true,
    summary: 'List the reasons to cancel a visit at home',
    subjects: {},
    returns: z.array(CancellationReason),
  }),
  getHomeVisit: endpoint({
    ...ofOrder,
    method: 'get',
    path: '/v3/order/{order_id}/phlebotomy/appointment',
    summary: 'Get the visit at home of an order',
    description: 'Returns the latest appointment of the order.',
    refusals: notHome,
  }),
  listCenterSlots: endpoint({
    ...appointments,
    method: 'post',
    path: '/v3/order/psc/appointment/availability',
    reads: true,
    summary: 'List free slots at collection sites',
    description: 'Returns 14 days of slots. Send site_codes or zip_code.',
    subjects: {},
    query: z.object({
      lab: LabName,
      ...startDate,
      site_codes: z.array(Text(60)).max(50).nullish().describe('At most 3.'),
      zip_code: ZipCode.nullish(),
      radius: z.enum(radii).nullable().default('25').describe('In miles.'),
      allow_stale: z.boolean().default(false).describe('Accepted, without effect: the slots are always current.'),
    }),
    returns: Slots,
    refusals: { 400: 'start_date has passed, a site is unknown, or neither site_codes nor zip_code is given.', 404: 'No slot is free.' },
  }),
  bookCenterVisit: endpoint({
    ...ofOrder,
    method: 'post',
    path: '/v3/order/{order_id}/psc/appointment/book',
    idempotent: true,
    summary: 'Book a visit to a collection site',
    description: EMITS_CREATED,
    body: Booking,
    refusals: { ...notBookable, ...notCenter },
  }),
  rescheduleCenterVisit: endpoint({
    ...ofOrder,
    method: 'patch',
    path: '/v3/order/{order_id}/psc/appointment/reschedule',
    summary: 'Reschedule a visit to a collection site',
    description: EMITS_UPDATED,
    body: Reschedule,
    refusals: { ...notMovable, ...notCenter },
  }),
  cancelCenterVisit: endpoint({
    ...ofOrder,
    method: 'patch',
    path: '/v3/order/{order_id}/psc/appointment/cancel',
    summary: 'Cancel a visit to a collection site',
    description: EMITS_UPDATED,
    body: z.object({ cancellationReasonId: Id, note: Text(1000).nullish() }).meta({ id: 'CenterVisitCancellation' }),
    refusals: { ...notActive, ...notCenter },
  }),
  listCenterCancellationReasons: endpoint({
    ...appointments,
    method: 'get',
    path: '/v3/order/psc/appointment/cancellation-reasons',
    unaudited: true,
    summary: 'List the reasons to cancel a visit to a collection site',
    subjects: {},
    returns: z.array(CancellationReason),
  }),
  getCenterVisit: endpoint({
    ...ofOrder,
    method: 'get',
    path: '/v3/order/{order_id}/psc/appointment',
    summary: 'Get the visit to a collection site of an order',
    description: 'Returns the latest appointment of the order.',
    refusals: notCenter,
  }),
  reportVisit: endpoint({
    ...ofOrder,
    method: 'post',
    path: '/v3/order/{order_id}/appointment/status',
    summary: 'Report the progress of a visit',
    description: `For your own phlebotomists and collection sites. Completing a visit at home also completes the draw. ${EMITS_UPDATED}`,
    body: z.object({ status: z.enum(['in_progress', 'completed']) }).meta({ id: 'VisitReport' }),
    refusals: { 400: 'The visit cannot take this status now.', 404: 'No such order in the team, or it has no appointment.' },
  }),
}
