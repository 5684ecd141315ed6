import { type Db, prepareStatement, run } from '../../../platform/db/open.ts'
import { type EventRow, eventValues } from '../../../platform/db/rows/event-rows.ts'
import { auditValue, type RequestRows } from '../../../platform/db/rows/request-rows.ts'
import { byteaArray, rowSet } from '../../../platform/db/rows/row-sets.ts'
import { type ReceivedData, receivedValue } from '../store-states.ts'
import type { DayRow, SeriesScope } from './store-days.ts'

export type WrittenDay = DayRow & { samples: number }

/** The days of a push of one resource, and everything that is written with them. */
export type Batch = {
  scope: SeriesScope
  days: WrittenDay[]
  state: ReceivedData
  events: EventRow[]
  audit?: RequestRows['audit'] | undefined
}

const dayColumns = ['user_id', 'resource', 'provider', 'day', 'source_type', 'samples', 'revision'] as const

const writePushes = prepareStatement('write_pushes', 'select write_pushes($1, $2, $3, $4, $5, $6, $7, $8)', { hot: 'write', locks: true })

/**
 * Writes days, the states of their resources, events and audit rows of a team in one statement, or nothing if another request wrote one
 * of the days first.
 */
export async function writeBatches(db: Db, team_id: string, batches: Batch[]) {
  const days = batches.flatMap(({ scope, days }) => days.map((day) => ({ ...scope, ...day })))
  const values = [
    ...[team_id, rowSet(days, dayColumns), byteaArray(days.map(({ sealed }) => sealed))],
    receivedValue(batches.map(({ state }) => state)),
    ...eventValues(batches.flatMap(({ events }) => events)),
    auditValue(batches.flatMap(({ audit }) => audit ?? [])),
  ]
  await run(db, writePushes, values, { items: batches.length })
}
