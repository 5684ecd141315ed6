import { invalid } from '../../../platform/problem.ts'

/** Rejects an empty window. `first` and `last` are the names of its body fields. */
export function checkWindow(from: string, to: string, [first, last]: [string, string]) {
  if (from >= to) throw invalid(['body', first], `Must be before ${last}, which defaults to now.`)
}
