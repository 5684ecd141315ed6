import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '../../platform/db/open.ts'
import { DAY } from '../../platform/time.ts'
import { auditMetrics } from './audit-metrics.ts'
import { cloudMetrics } from './cloud-metrics.ts'
import { MAX_AGE_MS } from './collect.ts'
import { criticalMetrics } from './critical-metrics.ts'
import { type DeliveryMetrics, deliveryMetrics } from './delivery-metrics.ts'
import { kitMetrics } from './kit-metrics.ts'
import { labMetrics } from './lab-metrics.ts'
import { orderMetrics } from './order-metrics.ts'
import { type PipelineMetrics, pipelineMetrics } from './pipeline-metrics.ts'
import { unmatchedMetrics } from './unmatched-metrics.ts'

export type Metrics = {
  /** What this process counts. */
  registry: Registry
  /** What the database contains. It is the same in every process. */
  backlogs: Registry
  /** How long reads share a collection. */
  maxAgeMs: number
  requests: Histogram
  jobFailures: Counter
  deliveries: DeliveryMetrics
  pipelines: PipelineMetrics
}

/** Labels are route templates, never URLs, because a path may hold a user's ID. */
export function createMetrics(database: Database): Metrics {
  const registry = new Registry()
  const backlogs = new Registry()
  collectProcessMetrics(registry)
  new Gauge({
    name: 'assay_database_connections',
    help: 'Connections to PostgreSQL by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, database.pool.idleCount)
      this.set({ state: 'busy' }, database.pool.totalCount - database.pool.idleCount)
      this.set({ state: 'waiting' }, database.countWaiting() + database.pool.waitingCount)
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
  orderMetrics(backlogs, database)
  criticalMetrics(backlogs, database)
  kitMetrics(backlogs, database)
  labMetrics({ registry, backlogs }, database)
  auditMetrics(backlogs, database)
  cloudMetrics({ registry, backlogs }, database)
  unmatchedMetrics(backlogs, database)
  return {
    registry,
    backlogs,
    maxAgeMs: MAX_AGE_MS,
    requests,
    jobFailures,
    deliveries: deliveryMetrics({ registry, backlogs }, database),
    pipelines: pipelineMetrics({ registry, backlogs }, database),
  }
}

/**
 * The lag of the event loop is measured at each scrape. Its distribution would need a timer that wakes the process 100 times a
 * second, which takes half a percent of a core while it is idle.
 */
function collectProcessMetrics(registry: Registry) {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: DAY })
  for (const statistic of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])
    registry.removeSingleMetric(`nodejs_eventloop_lag_${statistic}_seconds`)
}
