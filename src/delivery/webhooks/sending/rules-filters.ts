import type { FilterVersion, LoggedEvent, Ordering } from '../../../contract/delivery/log-rows.ts'
import { matches } from '../../events/rules.ts'

/** The version for a position. They are sorted, and the present one is the last. */
export const versionAt = (versions: FilterVersion[], no: number) =>
  versions.find(({ upto_no }) => upto_no === null || no <= upto_no) as FilterVersion

/** The types that the present filter takes, if it holds for everything after a position. */
export function filterAfter(versions: FilterVersion[], no: number) {
  const { upto_no, filter_types } = versionAt(versions, no + 1)
  return upto_no === null ? filter_types : null
}

/** Whether a webhook receives an event. An event whose user was erased counts too, so that the numbers of the others stay. */
export const isMessage = ({ filter_types }: FilterVersion, { deliverable, event_type }: Pick<LoggedEvent, 'deliverable' | 'event_type'>) =>
  deliverable && takes(filter_types, event_type)

/** Like the SQL function of this name. */
export const takes = (filter_types: string[] | null, event_type: string) =>
  filter_types === null || filter_types.some((pattern) => matches(pattern, event_type))

/** The order in which a message is sent relative to others: messages with the same key wait for each other. */
export function keyOf(ordering: Ordering, { id, key }: Pick<LoggedEvent, 'id' | 'key'>) {
  if (ordering === 'strict') return STRICT
  return ordering === 'unordered' || key === null ? id : key
}

/** The key of a message beside the order of its webhook, which waits for nothing. */
export const keyBesideOrder = (ordering: Ordering, event: Pick<LoggedEvent, 'id' | 'key'>) =>
  keyOf(ordering === 'strict' ? 'unordered' : ordering, event)

export const STRICT = '*'
