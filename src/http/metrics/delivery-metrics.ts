import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type Backlog, listBacklogs } from '../../delivery/webhooks/sending/backlog.ts'
import type { Database } from '../../platform/db/open.ts'

type Attempt = { outcome: string; event_at: string; at: string; ms: number }

export type DeliveryMetrics = { record(attempts: Attempt[]): void }

/** Counters cover this process only. Gauges read the database, so every process reports the same values. */
export function deliveryMetrics(registry: Registry, database: Database): DeliveryMetrics {
  const registers = [registry]
  const outcomes = new Counter({
    name: 'assay_webhook_attempts_total',
    help: 'Delivery attempts by outcome: delivered, retried or exhausted.',
    labelNames: ['outcome'],
    registers,
  })
  const latency = new Histogram({
    name: 'assay_webhook_latency_seconds',
    help: 'Time from an event to its delivery, including retries and replays.',
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600, 43_200],
    registers,
  })
  // Both gauges share one query per scrape. A scrape must succeed while the database is down.
  let pending: Promise<Backlog[]> | undefined
  const loadBacklog = () => {
    pending ??= listBacklogs(database.db)
      .catch(() => [])
      .finally(() => {
        pending = undefined
      })
    return pending
  }
  new Gauge({
    name: 'assay_webhook_waiting',
    help: 'Pending messages by webhook, for the 1000 webhooks with the most.',
    labelNames: ['webhook_id'],
    registers,
    async collect() {
      const backlog = await loadBacklog()
      this.reset()
      for (const { webhook_id, waiting } of backlog) this.set({ webhook_id }, waiting)
    },
  })
  new Gauge({
    name: 'assay_webhook_oldest_waiting_seconds',
    help: 'Age of the oldest pending message by webhook.',
    labelNames: ['webhook_id'],
    registers,
    async collect() {
      const backlog = await loadBacklog()
      this.reset()
      for (const { webhook_id, oldest_at } of backlog)
        if (oldest_at) this.set({ webhook_id }, Math.max(0, (Date.now() - Date.parse(oldest_at)) / 1000))
    },
  })
  return {
    record(attempts) {
      for (const { outcome, event_at, at, ms } of attempts) {
        outcomes.inc({ outcome })
        if (outcome === 'delivered') latency.observe(Math.max(0, (Date.parse(at) + ms - Date.parse(event_at)) / 1000))
      }
    },
  }
}
