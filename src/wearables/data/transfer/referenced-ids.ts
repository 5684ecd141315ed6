import type { IdOf } from '../../../tenants/users/transfer-part.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Replaces the IDs of referenced records, such as a sleep or a device, in a document. Other IDs stay. */
export const renameIdsInside = <T>(document: T, referenced: Set<unknown>, idOf: IdOf): T =>
  JSON.parse(JSON.stringify(document).replaceAll(UUID, (id) => (referenced.has(id) ? idOf(id) : id))) as T
