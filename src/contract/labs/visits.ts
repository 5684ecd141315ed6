import { z } from 'zod'
import { DayIn, Id, Instant, openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, PersonName, personal, Safe } from '../personal.ts'
import { appointmentStatuses, Slots, startDate } from './appointments.ts'
import { CalendarCode } from './calendars.ts'
import { sampleTypes } from './catalog.ts'

const DayVisit = z
  .object({
    appointment_id: Id,
    order_id: Id,
    user_id: Id,
    status: openEnum(appointmentStatuses),
    start_at: Instant,
    end_at: Instant,
    first_name: PersonName.nullable(),
    last_name: PersonName.nullable(),
    dob: personal(z.string(), 'date').nullable(),
    lab_test: Safe,
    sample_type: openEnum(sampleTypes),
    sample_id: Safe.nullable(),
    fasting: z.boolean(),
    appointment_notes: PersonalText.nullable(),
  })
  .meta({ id: 'DayVisit' })

const Day = z
  .object({ code: Safe, name: Safe, iana_timezone: Safe, date: Safe.meta({ format: 'date' }), visits: z.array(DayVisit) })
  .meta({ id: 'CalendarDay' })

const visits = { auth: 'team', tag: 'Appointments', method: 'get' } as const

export const visitEndpoints = {
  listDayVisits: endpoint({
    ...visits,
    path: '/v3/schedule/{calendar_code}/day',
    summary: 'List the visits of a day at a site or of a phlebotomist',
    description: "Returns at most 1000 visits of the team, by start, without canceled ones. The day is in the calendar's time zone.",
    subjects: { user_id: 'result.visits[].user_id', order_id: 'result.visits[].order_id' },
    params: z.object({ calendar_code: CalendarCode }),
    query: z.object({ date: DayIn.nullish().describe('Default: today.') }),
    returns: Day,
    refusals: { 404: 'The schedule has no calendar with this code.' },
  }),
  listOrderSlots: endpoint({
    ...visits,
    path: '/v3/order/{order_id}/appointment/availability',
    summary: 'List free slots for the visit of an order',
    description: "Returns 14 days of slots: of phlebotomists who visit the patient's address, or of the lab's sites within 50 miles of it.",
    subjects: { order_id: 'path.order_id' },
    params: z.object({ order_id: Id }),
    query: z.object(startDate),
    returns: Slots,
    refusals: { 400: 'start_date has passed, or the order has no visits.', 404: 'No such order in the team.' },
  }),
}
