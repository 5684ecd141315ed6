/** Every leaf of a value. Searching leaves for a short text avoids matches inside random IDs. */
export function leavesOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return [value]
  return Object.values(value).flatMap(leavesOf)
}
