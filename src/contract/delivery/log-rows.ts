/** A position in the log of a team, with the time of its event or an earlier one. */
export type Position = { no: number; at: string }

/** Earlier than any event. */
export const BEGINNING = '1970-01-01T00:00:00.000Z'

/** An event in the log of its team, with the key of its user. Erasing the user empties it. */
export type LoggedEvent = {
  no: number
  logged_at: string
  id: string
  user_id: string | null
  order_id: string | null
  event_type: string
  key: string | null
  deliverable: boolean
  sealed: Buffer | null
  created_at: string
  key_id: string | null
  wrapped_key: Buffer | null
}

/** Disclosures of one day that are alike. `fields_id` stands for the fields in the key of the row. */
export type DisclosureCount = DisclosureGroup & { fields_id: string; fields: string[]; count: number }

/** What the list of disclosures shows together. `receiver` is a host, or a topic. */
export type DisclosureGroup = { day: string; destination: string; receiver: string; event_type: string }

export type Ordering = 'per_key' | 'strict' | 'unordered'

/** The filter and the ordering of a webhook up to a position, or from the last one on. */
export type FilterVersion = { upto_no: number | null; filter_types: string[] | null; ordering: Ordering }

/** Where a cursor stands, as its row keeps it. */
export type CursorPosition = { after_no: number; after_at: string; last_no: number | null; done: number[] }
