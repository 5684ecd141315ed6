import { Counter, Gauge, type Registry } from 'prom-client'
import type { SupportedDestination } from '../../contract/delivery/pipelines.ts'
import { listPipelinesBehind, type PendingEvents } from '../../delivery/pipelines/backlog.ts'
import type { Database } from '../../platform/db/open.ts'

export type PipelineMetrics = { record(destination: SupportedDestination, result: { published: number } | { failure: string }): void }

/** Counters cover this process only. Gauges read the database, so every process reports the same values. */
export function pipelineMetrics(registry: Registry, database: Database): PipelineMetrics {
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
  // Both gauges share one query per scrape. A scrape must succeed while the database is down.
  let pending: Promise<PendingEvents[]> | undefined
  const loadBacklog = () => {
    pending ??= listPipelinesBehind(database.db)
      .catch(() => [])
      .finally(() => {
        pending = undefined
      })
    return pending
  }
  new Gauge({
    name: 'assay_pipeline_lag',
    help: 'Pending events by team and destination, within the next 10000 events of the log.',
    labelNames: ['team_id', 'destination'],
    registers,
    async collect() {
      const backlog = await loadBacklog()
      this.reset()
      for (const { team_id, destination, lag } of backlog) this.set({ team_id, destination }, lag)
    },
  })
  new Gauge({
    name: 'assay_pipeline_oldest_waiting_seconds',
    help: 'Age of the oldest pending event by team and destination.',
    labelNames: ['team_id', 'destination'],
    registers,
    async collect() {
      const backlog = await loadBacklog()
      this.reset()
      for (const { team_id, destination, oldest_at } of backlog)
        if (oldest_at) this.set({ team_id, destination }, Math.max(0, (Date.now() - Date.parse(oldest_at)) / 1000))
    },
  })
  return {
    record(destination, result) {
      if ('published' in result) published.inc({ destination }, result.published)
      else failures.inc({ destination, reason: result.failure })
    },
  }
}
