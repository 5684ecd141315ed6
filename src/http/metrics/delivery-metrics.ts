import { Counter, Histogram } from 'prom-client'
import { listBacklogs } from '../../delivery/webhooks/backlog.ts'
import { expired } from '../../delivery/webhooks/repair/retention.ts'
import type { Database } from '../../platform/db/open.ts'
import { timeOfId } from '../../platform/db/time-ordered-id.ts'
import { ageInSeconds, backlogGauges, type Registries } from './backlog-gauges.ts'

type Attempt = { outcome: string; event_id: string; at: string; ms: number }

export type DeliveryMetrics = { record(attempts: Attempt[]): void }

export function deliveryMetrics({ registry, backlogs }: Registries, database: Database): DeliveryMetrics {
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
  new Counter({
    name: 'assay_webhook_expired_total',
    help: 'Pending messages that retention has deleted before they were delivered.',
    registers,
    collect() {
      this.reset()
      this.inc(expired.messages)
    },
  })
  backlogGauges(
    backlogs,
    () => listBacklogs(database.db),
    ['webhook_id'],
    [
      {
        name: 'assay_webhook_waiting',
        help: 'Pending messages by webhook, for the 1000 webhooks with the most.',
        measure: ({ waiting }) => waiting,
      },
      {
        name: 'assay_webhook_due',
        help: 'Pending messages by webhook that workers may send now. Retries that wait and disabled webhooks do not count.',
        measure: ({ due }) => due,
      },
      {
        name: 'assay_webhook_oldest_waiting_seconds',
        help: 'Age of the oldest pending message by webhook.',
        measure: ({ oldest_at }) => ageInSeconds(oldest_at),
      },
    ],
  )
  return {
    record(attempts) {
      for (const { outcome, event_id, at, ms } of attempts) {
        outcomes.inc({ outcome })
        const emittedAt = timeOfId(event_id)
        if (outcome === 'delivered' && emittedAt !== undefined) latency.observe(Math.max(0, (Date.parse(at) + ms - emittedAt) / 1000))
      }
    },
  }
}
