import { Counter, Gauge, type Registry } from 'prom-client'
import type { Database } from '../db/open.ts'
import { pipelinesBehind, type Waiting } from '../pipelines/backlog.ts'

export type Pipelines = { note(what: { published: number } | { failure: string }): void }

/** What is published to brokers. What each process published is counted there; what waits is the same wherever it is asked for. */
export function pipelineMetrics(registry: Registry, database: Database): Pipelines {
  const registers = [registry]
  const published = new Counter({ name: 'assay_pipeline_published_total', help: 'Events that brokers confirmed.', registers })
  const failures = new Counter({
    name: 'assay_pipeline_failures_total',
    help: 'Times that a pipeline could not publish, by reason.',
    labelNames: ['reason'],
    registers,
  })
  // Both gauges are asked in the same moment, and a scrape must answer while the database is away.
  let asked: Promise<Waiting[]> | undefined
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
    help: 'Events that wait, by team: of the next 10000 of its log.',
    labelNames: ['team_id'],
    registers,
    async collect() {
      const found = await waiting()
      this.reset()
      for (const { team_id, lag } of found) this.set({ team_id }, lag)
    },
  })
  new Gauge({
    name: 'assay_pipeline_oldest_waiting_seconds',
    help: 'The age of the oldest event that waits, by team.',
    labelNames: ['team_id'],
    registers,
    async collect() {
      const found = await waiting()
      this.reset()
      for (const { team_id, oldest_at } of found)
        if (oldest_at) this.set({ team_id }, Math.max(0, (Date.now() - Date.parse(oldest_at)) / 1000))
    },
  })
  return {
    note(what) {
      if ('published' in what) published.inc(what.published)
      else failures.inc({ reason: what.failure })
    },
  }
}
