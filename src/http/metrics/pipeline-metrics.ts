import { Counter } from 'prom-client'
import type { SupportedDestination } from '../../contract/delivery/pipelines.ts'
import { listLags } from '../../delivery/pipelines/access.ts'
import type { Database } from '../../platform/db/open.ts'
import { ageInSeconds, backlogGauges, type Registries } from './backlog-gauges.ts'

export type PipelineMetrics = { record(destination: SupportedDestination, result: { published: number } | { failure: string }): void }

export function pipelineMetrics({ registry, backlogs }: Registries, database: Database): PipelineMetrics {
  const registers = [registry]
  const published = new Counter({
    name: 'assay_pipeline_published_total',
    help: 'Events confirmed by the broker, by destination.',
    labelNames: ['destination'],
    registers,
  })
  const failures = new Counter({
    name: 'assay_pipeline_failures_total',
    help: 'Failed publish attempts by destination and reason.',
    labelNames: ['destination', 'reason'],
    registers,
  })
  backlogGauges(
    backlogs,
    () => listLags(database.db),
    ['team_id', 'destination'],
    [
      {
        name: 'assay_pipeline_lag',
        help: 'Pending events by team and destination, within the next 10000 events of the log.',
        measure: ({ lag }) => lag,
      },
      {
        name: 'assay_pipeline_oldest_waiting_seconds',
        help: 'Age of the oldest pending event by team and destination.',
        measure: ({ oldest_at }) => ageInSeconds(oldest_at),
      },
    ],
  )
  return {
    record(destination, result) {
      if ('published' in result) published.inc({ destination }, result.published)
      else failures.inc({ destination, reason: result.failure })
    },
  }
}
