import type { App } from '../../platform/app.ts'
import type { ResultGroup } from '../hl7/messages/rules-results.ts'
import { findFilled } from '../orders/samples.ts'
import { withNumbers } from './rules-match.ts'

/**
 * The groups of a message with their order numbers. A number of the lab that Assay knows for one order stands for the order
 * number, unless a test of the message has both.
 */
export async function numberGroups(app: App, lab_id: number, groups: ResultGroup[]): Promise<ResultGroup[]> {
  const paired = new Set(groups.flatMap(({ order_number, filler_number }) => (order_number && filler_number ? filler_number : [])))
  const known = new Map<string, string | null>()
  for (const { order_number, filler_number } of groups) {
    if (order_number || !filler_number || paired.has(filler_number) || known.has(filler_number)) continue
    const [number, ...others] = await findFilled(app, lab_id, filler_number)
    known.set(filler_number, others.length ? null : (number ?? null))
  }
  return withNumbers(
    groups.map((group) => ({ ...group, order_number: group.order_number ?? known.get(group.filler_number ?? '') ?? null })),
  )
}
