import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Part } from '../../tenants/users/transfer-part.ts'

export const parts: Part[] = [
  {
    table: 'pull_jobs',
    ids: ['connection_id', 'user_id'],
    order: ['connection_id', 'feed'],
    drop: ['lease', 'leased_until'],
    // The feeds of an ended connection are never read again.
    isExported: ({ connection_id }, rowsOf) => rowsOf('connections').some(({ id }) => id === connection_id),
    adapt: (rows) => rows.map(toPaused),
  },
]

/** Assay reads nothing until the user connects again. The backfill then goes on where it stopped. */
const toPaused = (job: JsonRow) => ({ ...job, due_at: null, requests: 0, tries: 0, error: null, skipped: [] })
