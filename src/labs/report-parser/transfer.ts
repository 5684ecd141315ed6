import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Part } from '../../tenants/users/transfer-part.ts'

export const parts: Part[] = [
  {
    table: 'parsing_jobs',
    sealed: ['id'],
    ids: ['id', 'user_id'],
    order: ['created_at', 'id'],
    adapt: (rows, { isCopy }) => (isCopy ? rows.map(toEnded) : rows),
  },
  {
    table: 'parsing_files',
    sealed: ['job_id', 'n'],
    ids: ['job_id', 'user_id'],
    order: ['job_id', 'n'],
    isFile: true,
    adapt: (rows, { isCopy }) => (isCopy ? [] : rows),
  },
]

/** The original parses the files. */
const toEnded = (job: JsonRow) =>
  job['due_at'] === null ? job : { ...job, status: 'failed', failure_reason: 'processing_error', due_at: null }
