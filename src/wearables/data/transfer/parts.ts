import type { JsonRow } from '../../../platform/db/rows/json-rows.ts'
import type { Import, Part } from '../../../tenants/users/transfer-part.ts'
import { renameIdsInside } from './referenced-ids.ts'

export const parts: Part[] = [
  { table: 'summaries', sealed: ['id'], ids: ['id', 'user_id'], order: ['created_at', 'id'], adapt: renameReferences },
  {
    table: 'deleted_summaries',
    ids: ['id', 'user_id'],
    order: ['deleted_at', 'id'],
    // The ID of a summary follows from its user, so a deletion says nothing about a copy.
    adapt: (rows, { isCopy }) => (isCopy ? [] : rows),
  },
  { table: 'resource_states', ids: ['user_id'], order: ['provider', 'resource', 'stage'] },
  {
    table: 'historical_pulls',
    ids: ['user_id'],
    order: ['provider', 'resource'],
    adapt: (rows, { app }) => rows.map((row) => endRunningPull(row, app.now())),
  },
]

/** A summary may refer to others, such as a sleep, and to devices. */
function renameReferences(rows: JsonRow[], { isCopy, idOf, rowsOf }: Import) {
  if (!isCopy) return rows
  const referenced = new Set([...rowsOf('summaries'), ...rowsOf('devices')].map(({ id }) => id))
  return rows.map((row) => ({ ...row, sealed: renameIdsInside(row['sealed'], referenced, idOf) }))
}

/** An import does not continue a historical pull that was running. */
const endRunningPull = (pull: JsonRow, at: string) =>
  pull['status'] === 'success' || pull['status'] === 'failure'
    ? pull
    : { ...pull, status: 'failure', error_details: 'non_retriable_error', ended_at: at }
