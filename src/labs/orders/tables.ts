import type { Generated } from 'kysely'
import type { Method } from '../../contract/labs/lifecycle.ts'
import type { Simulation } from '../../contract/labs/orders.ts'
import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    orders: {
      id: string
      team_id: string
      user_id: Optional<string>
      transaction_id: string
      parent_id: Optional<string>
      origin: string
      lab_id: number
      lab_test_id: string
      lab_account_id: Optional<string>
      method: Method
      low_level: string
      last_event: number
      last_event_at: Time
      created_at: Time
      updated_at: Time
      changed_at: Generated<Time>
      registrable: boolean
      zone: string
      activate_by: Optional<string>
      scheduled: boolean
      dispatch_at: Optional<Time>
      sent_at: Optional<Time>
      step_at: Optional<Time>
      simulation: Json<Simulation | null>
      seed: string
      sample_id: Optional<string>
      billing_type: string
      priority: boolean
      has_abn: boolean
      health_insurance_id: Optional<string>
      collected_at: Optional<Time>
      expected_result_by_date: Optional<string>
      worst_case_result_by_date: Optional<string>
      interpretation: Optional<string>
      has_missing_results: Optional<boolean>
      result_version: number
      sealed: Optional<Buffer>
      terms: string[]
    }
    lab_samples: { lab_id: number; sample_id: string; team_id: string; order_id: string }
    lab_fillers: { lab_id: number; filler_number: string; sample_id: string; team_id: string; order_id: string }
    order_events: { team_id: string; order_id: string; id: number; low_level: string; status_detail: Optional<string>; created_at: Time }
    order_images: { team_id: string; order_id: string; name: string; sealed: Buffer }
  }
}

export const sealed: SealedColumn[] = [
  { ...byId, table: 'orders', owner: 'user' },
  {
    table: 'order_images',
    column: 'sealed',
    key: ['order_id', 'name'],
    in: ['order_id', 'name'],
    owner: 'user',
    through: { column: 'order_id', table: 'orders' },
  },
]
