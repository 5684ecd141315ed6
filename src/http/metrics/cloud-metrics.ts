import { Counter } from 'prom-client'
import type { Database } from '../../platform/db/open.ts'
import { cloudCounters } from '../../wearables/ingestion/counters.ts'
import { cloudBacklog } from '../../wearables/ingestion/status/actions.ts'
import { ageInSeconds, backlogGauges, type Registries } from './backlog-gauges.ts'

/** Reading from wearable clouds, by provider. */
export function cloudMetrics({ registry, backlogs }: Registries, { db }: Database) {
  const count = (name: string, help: string, labelNames: string[], counts: Map<string, number>) =>
    new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const [key, value] of counts) this.inc(Object.fromEntries(key.split(' ').map((text, i) => [labelNames[i], text])), value)
      },
    })
  count('assay_cloud_calls_total', 'Requests to wearable clouds by status.', ['provider', 'status'], cloudCounters.calls)
  count('assay_cloud_failures_total', 'Failed reads of wearable clouds by cause.', ['provider', 'fault'], cloudCounters.failures)
  count('assay_cloud_skipped_total', 'Records of wearable clouds that were skipped.', ['provider', 'reason'], cloudCounters.skipped)
  backlogGauges(
    backlogs,
    () => cloudBacklog(db, new Date().toISOString()),
    ['provider'],
    [
      { name: 'assay_cloud_feeds', help: 'Feeds of connections to wearable clouds.', measure: ({ feeds }) => feeds },
      { name: 'assay_cloud_feeds_due', help: 'Feeds that are due to be read.', measure: ({ due }) => due },
      { name: 'assay_cloud_feeds_failing', help: 'Feeds whose last read failed.', measure: ({ failing }) => failing },
      {
        name: 'assay_cloud_lag_seconds',
        help: 'How long the oldest due feed has been due. 0 if none is.',
        measure: ({ oldest_due }) => ageInSeconds(oldest_due) ?? 0,
      },
      {
        name: 'assay_cloud_quota_remaining',
        help: 'Requests left at the cloud, the lowest of all applications.',
        measure: ({ remaining }) => remaining,
      },
    ],
  )
}
