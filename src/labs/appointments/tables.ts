import type { AppointmentEventData } from '../../contract/labs/appointments.ts'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
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
  }
}

export const sealed: SealedColumn[] = [{ ...byId, table: 'appointments', owner: 'user', through: { column: 'order_id', table: 'orders' } }]
