import { byteaArray, rowSet } from './row-sets.ts'

/** A new event. */
export type EventRow = {
  id: string
  user_id: string | null
  order_id: string | null
  event_type: string
  key: string
  at: string
  partial: boolean
  sealed: Buffer
}

const eventColumns = ['id', 'user_id', 'order_id', 'event_type', 'key', 'at', 'partial'] as const

/** Events of a team as parameters of an SQL function, which passes them to `append_events`. */
export const eventValues = (events: readonly EventRow[]) => [rowSet(events, eventColumns), byteaArray(events.map(({ sealed }) => sealed))]
