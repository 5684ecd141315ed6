import type { ColumnType, Generated } from 'kysely'
import type { CollectionTables } from './tables/collection.ts'
import type { DeliveryTables } from './tables/delivery.ts'
import type { LabTables } from './tables/labs.ts'
import type { TenantTables } from './tables/tenants.ts'
import type { WearableTables } from './tables/wearables.ts'

/** Times are ISO text in and out; `open.ts` sets the parsers. */
export type Time = string
/** Written as JSON text, because the driver would turn a list into an SQL array. Read back as the parsed value. */
export type Json<T> = ColumnType<T, string | null | undefined, string | null>
export type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>

/** The tables by the room that owns them. `deployment` belongs to operations. */
export type Tables = TenantTables &
  DeliveryTables &
  LabTables &
  CollectionTables &
  WearableTables & {
    heartbeat: { one: Generated<boolean>; at: Time }
    processes: { id: string; newest: string; leased_until: Time; root_epoch: Optional<number> }
    root_keys: {
      version: number
      id: string
      wrapped: Buffer
      wrapped_by: string
      created_at: Generated<Time>
      active_at: Optional<Time>
      retired_at: Optional<Time>
    }
    deployment: { one: Generated<boolean>; environment: string; region: string; key_check: Buffer; created_at: Generated<Time> }
  }
