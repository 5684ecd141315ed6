import type pg from 'pg'
import { localSettings } from '../local-settings.ts'

export const LOCK_ID = 4_117_202_601

/** Begins a transaction that changes the schema. Only one runs at a time. Its lock ends with it, so it works through a transaction pooler. */
export async function beginSchemaChange(client: pg.ClientBase) {
  await client.query('begin')
  await client.query(
    localSettings({
      statement_timeout: 0,
      // By default Citus changes shards on several connections, which would wait for each other.
      'citus.multi_shard_modify_mode': 'sequential',
      // Citus warns that triggers must not read other shards. Ours only reject changes.
      'citus.enable_unsafe_triggers': 'on',
    }),
  )
  await client.query('select pg_advisory_xact_lock($1)', [LOCK_ID])
}
