import type { Format } from '../../contract/delivery/formats.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    delivery_formats: { team_id: string; destination: string; after_no: number; format: Format; include_client_user_id: boolean }
  }
}
