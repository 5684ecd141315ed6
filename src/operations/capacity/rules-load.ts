import { type ClusterUsage, clusterCosts, costs, type Operation, type TableFamily, tableFamilies, type Usage } from './rules-costs.ts'

export type Workload = {
  orders_per_day: number
  samples_per_day: number
  /** Receivers of each event. */
  webhooks: number
  events_per_order: number
  reads_per_order: number
  samples_per_push: number
  /** Load of the busiest hour divided by the mean. */
  peak_factor: number
  /** Days that events and delivery attempts are kept. */
  retention_days: number
  /** Days of operation until the disk has the computed size. */
  after_days: number
}

const DAY_SECONDS = 86_400

/** How often each operation happens in a day. */
export function operationsPerDay(workload: Workload): Record<Operation, number> {
  const { orders_per_day: order, samples_per_day: sample, webhooks } = workload
  const event = order * (workload.events_per_order - 1)
  const push = sample / workload.samples_per_push
  const delivery = (order + event + push) * webhooks
  return { order, event, delivery, read: order * workload.reads_per_order, push, sample, delivered_sample: sample * webhooks }
}

/** What the operations of a day use. */
export function usagePerDay(counts: Record<Operation, number>) {
  const used: Record<string, number> = {}
  for (const [operation, count] of Object.entries(counts) as [Operation, number][])
    for (const [resource, cost] of Object.entries({ ...costs[operation], ...clusterCosts[operation] }))
      used[resource] = (used[resource] ?? 0) + count * cost
  return used as Usage & ClusterUsage
}

/** The rate in the busiest hour. */
export const peakPerSecond = (perDay: number, { peak_factor }: Workload) => (perDay / DAY_SECONDS) * peak_factor

type DiskSizes = Record<TableFamily | 'total', number>

/** Bytes on disk by table family. Events and deliveries are deleted after the retention, everything else is kept. */
export function diskSizes(used: Usage, { retention_days, after_days }: Workload): { per_day: DiskSizes; total: DiskSizes } {
  const sizes = (daysOf: (family: TableFamily) => number) => {
    const entries = tableFamilies.map((family) => [family, used[`${family}_disk`] * daysOf(family)] as const)
    return Object.fromEntries([...entries, ['total', entries.reduce((sum, [, bytes]) => sum + bytes, 0)]]) as DiskSizes
  }
  const isPruned = (family: TableFamily) => family === 'events' || family === 'deliveries'
  return { per_day: sizes(() => 1), total: sizes((family) => (isPruned(family) ? Math.min(retention_days, after_days) : after_days)) }
}
