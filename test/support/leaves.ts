/** Every text, number and flag in a value, whole: a short one is looked for among these, not in a text where a random id may hold it. */
export function leavesOf(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return [value]
  return Object.values(value).flatMap(leavesOf)
}
