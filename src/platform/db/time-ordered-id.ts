import { randomUUID } from 'node:crypto'

/**
 * A UUID of version 7: the time in milliseconds, then random bits. Rows that are written in this order fill the pages of their
 * index, and random IDs leave a third of them empty.
 */
export const timeOrderedId = (at: string) => `${timeOf(at)}-7${randomUUID().slice(15)}`

/** Comes before every such ID from this time on. */
export const firstIdAt = (at: string) => `${timeOf(at)}-0000-0000-000000000000`

function timeOf(at: string) {
  const time = Date.parse(at).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

/** The time of such an ID in milliseconds. Undefined for any other ID. */
export const timeOfId = (id: string) => (id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined)
