import { invalid } from '../../../platform/problem.ts'

/** A window has a length; `names` are the fields that give it. */
export function checkWindow(from: string, to: string, [first, last]: [string, string]) {
  if (from >= to) throw invalid(['body', first], `Must lie before ${last}, which is now unless it is given.`)
}
