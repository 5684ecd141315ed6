import type { Registry } from 'prom-client'
import { countPending } from '../../labs/unmatched/operator-queue.ts'
import type { Database } from '../../platform/db/open.ts'
import { backlogGauges } from './backlog-gauges.ts'

/** Lab results that wait for a person, in the queues of teams and of the operator. */
export const unmatchedMetrics = (backlogs: Registry, { db }: Database) =>
  backlogGauges(
    backlogs,
    () => countPending(db),
    ['queue', 'interpretation'],
    [
      {
        name: 'assay_unmatched_results',
        help: 'Lab results that fit no order and that nobody has reviewed.',
        measure: ({ count }) => count,
      },
    ],
  )
