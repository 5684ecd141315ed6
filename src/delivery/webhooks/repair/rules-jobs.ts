import { invalid } from '../../../platform/problem.ts'

/** Rejects an empty window; `names` are its fields in the body. */
export function checkWindow(from: string, to: string, [first, last]: [string, string]) {
  if (from >= to) throw invalid(['body', first], `Must be before ${last}, which defaults to now.`)
}
