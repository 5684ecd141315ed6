import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { type Backlog, backlogs } from '../../delivery/webhooks/sending/backlog.ts'
import type { Database } from '../../platform/db/open.ts'

type Attempt = { outcome: string; event_at: string; at: string; ms: number }

export type Deliveries = { note(attempts: Attempt[]): void }

/** What is sent to webhooks. What each process sent is counted there; what waits is the same wherever it is asked for. */
export function deliveryMetrics(registry: Registry, database: Database): Deliveries {
  const registers = [registry]
  const outcomes = new Counter({
    name: 'assay_webhook_attempts_total',
    help: 'Attempts to deliver a message: delivered, retried or exhausted.',
    labelNames: ['outcome'],
    registers,
  })
  const latency = new Histogram({
    name: 'assay_webhook_latency_seconds',
    help: 'From the moment an event was logged to its delivery, waits and replays included.',
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600, 43_200],
    registers,
  })
  // Both gauges are asked in the same moment, and a scrape must answer while the database is away.
  let asked: Promise<Backlog[]> | undefined
  const waiting = () => {
    asked ??= backlogs(database.db)
      .catch(() => [])
      .finally(() => {
        asked = undefined
      })
    return asked
  }
  new Gauge({
    name: 'assay_webhook_waiting',
    help: 'Messages that wait, by webhook: the 1000 with the most.',
    labelNames: ['webhook_id'],
    registers,
    async collect() {
      const found = await waiting()
      this.reset()
      for (const { webhook_id, waiting } of found) this.set({ webhook_id }, waiting)
    },
  })
  new Gauge({
    name: 'assay_webhook_oldest_waiting_seconds',
    help: 'The age of the oldest message that waits, by webhook.',
    labelNames: ['webhook_id'],
    registers,
    async collect() {
      const found = await waiting()
      this.reset()
      for (const { webhook_id, oldest_at } of found)
        if (oldest_at) this.set({ webhook_id }, Math.max(0, (Date.now() - Date.parse(oldest_at)) / 1000))
    },
  })
  return {
    note(attempts) {
      for (const { outcome, event_at, at, ms } of attempts) {
        outcomes.inc({ outcome })
        if (outcome === 'delivered') latency.observe(Math.max(0, (Date.parse(at) + ms - Date.parse(event_at)) / 1000))
      }
    },
  }
}
