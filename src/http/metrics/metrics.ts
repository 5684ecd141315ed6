import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '../../platform/db/open.ts'
import { type DeliveryMetrics, deliveryMetrics } from './delivery-metrics.ts'
import { type PipelineMetrics, pipelineMetrics } from './pipeline-metrics.ts'

export type Metrics = {
  registry: Registry
  requests: Histogram
  jobFailures: Counter
  deliveries: DeliveryMetrics
  pipelines: PipelineMetrics
}

/** Labels are route templates, never URLs, because a path may hold a user's ID. */
export function createMetrics(database: Database): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'assay_database_connections',
    help: 'Connections to PostgreSQL by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, database.pool.idleCount)
      this.set({ state: 'busy' }, database.pool.totalCount - database.pool.idleCount)
      this.set({ state: 'waiting' }, database.pool.waitingCount)
    },
  })
  const requests = new Histogram({
    name: 'assay_http_request_seconds',
    help: 'Duration of HTTP requests.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  const jobFailures = new Counter({
    name: 'assay_job_failures_total',
    help: 'Failed job runs.',
    labelNames: ['job'],
    registers: [registry],
  })
  return {
    registry,
    requests,
    jobFailures,
    deliveries: deliveryMetrics(registry, database),
    pipelines: pipelineMetrics(registry, database),
  }
}
