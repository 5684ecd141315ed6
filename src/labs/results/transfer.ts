import type { Part } from '../../tenants/users/transfer-part.ts'

export const parts: Part[] = [
  {
    table: 'results',
    through: { column: 'order_id', table: 'orders' },
    sealed: ['order_id', 'version'],
    ids: ['order_id'],
    order: ['order_id', 'version'],
  },
  {
    table: 'result_documents',
    through: { column: 'order_id', table: 'orders' },
    sealed: ['order_id', 'version', 'n'],
    ids: ['order_id'],
    order: ['order_id', 'version', 'n'],
    isFile: true,
  },
  {
    table: 'critical_results',
    through: { column: 'order_id', table: 'orders' },
    sealed: ['order_id', 'version'],
    ids: ['order_id'],
    order: ['order_id', 'version'],
    adapt: (rows, { isCopy }) => (isCopy ? rows.map((row) => ({ ...row, escalate_at: null })) : rows),
  },
]
