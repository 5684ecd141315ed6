import type { Part } from '../../tenants/users/transfer-part.ts'

export const parts: Part[] = [
  { table: 'communication_settings', through: { column: 'order_id', table: 'orders' }, ids: ['order_id'], order: ['order_id'] },
]
