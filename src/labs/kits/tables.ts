import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
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
  }
}

export const sealed: SealedColumn[] = [{ ...byId, table: 'couriers', key: ['code'], in: ['code'], owner: 'team' }]
