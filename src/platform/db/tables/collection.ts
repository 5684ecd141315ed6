import type { AppointmentEventData } from '../../../contract/labs/appointments.ts'
import type { Calendar } from '../../../contract/labs/calendars.ts'
import type { Json, Optional, Time } from '../tables.ts'

/** How specimens are collected: visits, kits, and messages to patients. */
export type CollectionTables = {
  calendars: { team_id: string; code: string; calendar: Json<Calendar>; updated_at: Time }
  appointments: {
    team_id: string
    id: string
    order_id: string
    type: string
    provider: string
    calendar_code: Optional<string>
    status: string
    start_at: Optional<Time>
    end_at: Optional<Time>
    iana_timezone: Optional<string>
    due_at: Optional<Time>
    created_at: Time
    updated_at: Time
    sealed: Buffer
  }
  appointment_events: {
    team_id: string
    order_id: string
    appointment_id: string
    id: number
    status: string
    data: Json<AppointmentEventData | null>
    created_at: Time
  }
  booked_cells: { team_id: string; calendar_code: string; seat: number; cell_at: Time; appointment_id: string }
  shared_calendars: { code: string; calendar: Json<Calendar>; updated_at: Time }
  shared_cells: { calendar_code: string; seat: number; cell_at: Time; team_id: string; appointment_id: string }
  couriers: {
    team_id: string
    code: string
    name: string
    format: string
    tracking_url: Optional<string>
    updated_at: Time
    sealed: Buffer
  }
  parcels: { team_id: string; courier: string; number_hash: Buffer; order_id: string; direction: string }
  kit_limits: {
    team_id: string
    to_customer_days: Optional<number>
    with_customer_days: Optional<number>
    to_lab_days: Optional<number>
    updated_at: Time
  }
  kits: {
    team_id: string
    order_id: string
    leg: string
    since: Time
    due_at: Optional<Time>
    alerted: boolean
    overdue_at: Optional<Time>
    reported_at: Optional<Time>
  }
  physicians: { team_id: string; npi: string; sealed: Buffer; updated_at: Time }
  communication_settings: {
    team_id: string
    order_id: string
    sms_enabled: boolean
    email_enabled: Optional<boolean>
    language: Optional<string>
    updated_at: Time
  }
}
