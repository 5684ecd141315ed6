import type { Registry } from 'prom-client'
import { criticalFigures } from '../../labs/results/escalation.ts'
import type { Database } from '../../platform/db/open.ts'
import { backlogGauges } from './backlog-gauges.ts'

/** Critical results of all teams, on the clocks of the teams. */
export const criticalMetrics = (backlogs: Registry, { db }: Database) =>
  backlogGauges(
    backlogs,
    async () => [await criticalFigures(db, new Date().toISOString())],
    [],
    [
      {
        name: 'assay_critical_results_open',
        help: 'Critical results that are not acknowledged, up to 10000.',
        measure: ({ open }) => open,
      },
      {
        name: 'assay_critical_results_oldest_open_seconds',
        help: 'How long the oldest of them has been open.',
        measure: ({ oldest_seconds }) => oldest_seconds,
      },
      {
        name: 'assay_critical_results_acknowledge_p50_seconds',
        help: 'The median time to acknowledge, of critical results that were acknowledged in the last 7 days.',
        measure: ({ p50_seconds }) => p50_seconds,
      },
      {
        name: 'assay_critical_results_acknowledge_p95_seconds',
        help: 'The 95th percentile of the same.',
        measure: ({ p95_seconds }) => p95_seconds,
      },
    ],
  )
