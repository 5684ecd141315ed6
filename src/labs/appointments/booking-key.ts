import type { AppointmentType } from '../../contract/labs/appointments.ts'
import { problem } from '../../platform/problem.ts'

type Slot = { code: string; start: string; end: string }

const pattern = /^([^|]*)\|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z)\|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z)$/

/** Names a slot. For a visit at home the code is empty: any phlebotomist who is free can take it. */
export const bookingKey = ({ code, start, end }: Slot) => Buffer.from(`${code}|${start}|${end}`).toString('base64url')

/** The booking checks that the slot exists and is free, so a key needs no signature. */
export function openBookingKey(key: string, type: AppointmentType): Slot {
  const [, code = '', start = '', end = ''] = pattern.exec(Buffer.from(key, 'base64url').toString()) ?? []
  if (Number.isNaN(Date.parse(start)) || Number.isNaN(Date.parse(end)) || Boolean(code) !== (type === 'patient_service_center'))
    throw problem('BOOKING_KEY_INVALID', 'Invalid booking key format. Send the booking_key of a free slot for this kind of visit.')
  return { code, start, end }
}
