import type { Calendar } from '../../contract/labs/calendars.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    calendars: { team_id: string; code: string; calendar: Json<Calendar>; updated_at: Time }
    booked_cells: { team_id: string; calendar_code: string; seat: number; cell_at: Time; appointment_id: string }
    shared_calendars: { code: string; calendar: Json<Calendar>; updated_at: Time }
    shared_cells: { calendar_code: string; seat: number; cell_at: Time; team_id: string; appointment_id: string }
  }
}
