import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import type { Part } from '../../tenants/users/transfer-part.ts'

export const parts: Part[] = [
  {
    table: 'messages',
    through: { column: 'order_id', table: 'orders' },
    sealed: ['id'],
    ids: ['id', 'user_id', 'order_id'],
    order: ['id'],
    isOfTeam: ({ user_id }) => user_id === null,
    adapt: (rows, { isCopy }) => (isCopy ? rows.map(toLogged) : rows),
  },
  { table: 'message_opt_outs', ids: ['user_id'], order: ['user_id'] },
]

/** Nobody gets a message twice because their team was copied. */
const toLogged = (message: JsonRow) =>
  message['status'] === 'planned' || message['status'] === 'queued'
    ? { ...message, status: 'canceled', planned_at: null, send_at: null, error: 'copied' }
    : message
