import { Counter, Gauge, type Registry } from 'prom-client'
import type { SupportedDestination } from '../../contract/delivery/pipelines.ts'
import { type PendingEvents, pipelinesBehind } from '../../delivery/pipelines/backlog.ts'
import type { Database } from '../../platform/db/open.ts'

export type Pipelines = { note(destination: SupportedDestination, what: { published: number } | { failure: string }): void }

/** What pipelines publish. What each process published is counted there; what waits is the same wherever it is asked for. */
export function pipelineMetrics(registry: Registry, database: Database): Pipelines {
  const registers = [registry]
  const published = new Counter({
    name: 'assay_pipeline_published_total',
    help: 'Events that were confirmed, by destination.',
    labelNames: ['destination'],
    registers,
  })
  const failures = new Counter({
    name: 'assay_pipeline_failures_total',
    help: 'Times that a pipeline could not publish, by destination and reason.',
    labelNames: ['destination', 'reason'],
    registers,
  })
  // Both gauges are asked in the same moment, and a scrape must answer while the database is away.
  let asked: Promise<PendingEvents[]> | undefined
  const waiting = () => {
    asked ??= pipelinesBehind(database.db)
      .catch(() => [])
      .finally(() => {
        asked = undefined
      })
    return asked
  }
  new Gauge({
    name: 'assay_pipeline_lag',
    help: 'Events that wait, by team and destination: of the next 10000 of its log.',
    labelNames: ['team_id', 'destination'],
    registers,
    async collect() {
      const found = await waiting()
      this.reset()
      for (const { team_id, destination, lag } of found) this.set({ team_id, destination }, lag)
    },
  })
  new Gauge({
    name: 'assay_pipeline_oldest_waiting_seconds',
    help: 'The age of the oldest event that waits, by team and destination.',
    labelNames: ['team_id', 'destination'],
    registers,
    async collect() {
      const found = await waiting()
      this.reset()
      for (const { team_id, destination, oldest_at } of found)
        if (oldest_at) this.set({ team_id, destination }, Math.max(0, (Date.now() - Date.parse(oldest_at)) / 1000))
    },
  })
  return {
    note(destination, what) {
      if ('published' in what) published.inc({ destination }, what.published)
      else failures.inc({ destination, reason: what.failure })
    },
  }
}
