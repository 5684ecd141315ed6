import type { Registry } from 'prom-client'
import { dispatchBacklog } from '../../labs/orders/progress/dispatch.ts'
import type { Database } from '../../platform/db/open.ts'
import { backlogGauges } from './backlog-gauges.ts'

/** The orders that wait for a worker. Orders that are held for a later day do not count. */
export const orderMetrics = (backlogs: Registry, { db }: Database) =>
  backlogGauges(
    backlogs,
    async () => [await dispatchBacklog(db, new Date().toISOString())],
    [],
    [
      { name: 'assay_orders_due', help: 'Orders that are due to be sent to their lab, up to 10000.', measure: ({ due }) => due },
      {
        name: 'assay_orders_oldest_due_seconds',
        help: 'How long the oldest of them has been due.',
        measure: ({ oldest_seconds }) => oldest_seconds,
      },
    ],
  )
