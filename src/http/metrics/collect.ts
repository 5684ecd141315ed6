import { setImmediate as nextTurn } from 'node:timers/promises'
import { AggregatorRegistry, type Metric, type MetricObject, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import type { App } from '../../platform/app.ts'
import { SECOND } from '../../platform/time.ts'
import type { Metrics } from './metrics.ts'

/** Reads within this time share a collection, so that many scrapers cost no more than one. */
export const MAX_AGE_MS = 5 * SECOND
/** The series of a metric that are written at once. */
const SERIES = 500

/** The other processes of this service. */
type Siblings = { collectMetrics(): Promise<MetricObject[][]> }

type Collected = MetricObjectWithValues<MetricValue<string>>
type Collection = { text: Promise<string>; endedAt?: number }

/** Returns a function that reads the metrics of all processes of the service, as text for Prometheus. */
export function metricsReader(app: App, metrics: Metrics, siblings: Siblings | undefined) {
  let last: Collection | undefined
  const isUsable = ({ endedAt }: Collection) => {
    const ageMs = endedAt === undefined ? undefined : Date.parse(app.wall()) - endedAt
    return ageMs === undefined || (ageMs >= 0 && ageMs < metrics.maxAgeMs)
  }
  const begin = () => {
    const collection: Collection = { text: collectText(metrics, siblings) }
    const end = () => {
      collection.endedAt = Date.parse(app.wall())
    }
    const forget = () => {
      if (last === collection) last = undefined
    }
    collection.text.then(end, forget)
    return collection
  }
  return () => {
    if (!last || !isUsable(last)) last = begin()
    return last.text
  }
}

async function collectText({ registry, backlogs }: Metrics, siblings: Siblings | undefined) {
  const [own, others, found] = await Promise.all([collectInSlices(registry), siblings?.collectMetrics() ?? [], backlogs.getMetricsAsJSON()])
  return writeInSlices([...(await addUp(own, others)), ...found])
}

/** Reads the counters of this process one by one, and lets requests run in between. */
export async function collectInSlices(registry: Registry) {
  const collected: Collected[] = []
  for (const { name } of registry.getMetricsAsArray()) {
    // A metric of the registry is found by its name.
    collected.push(await (registry.getSingleMetric(name) as Metric).get())
    await nextTurn()
  }
  return collected
}

async function addUp(own: Collected[], others: MetricObject[][]) {
  if (!others.length) return own
  const sums: Collected[] = []
  for (const metrics of Map.groupBy([own, ...others].flat(), ({ name }) => name).values()) {
    sums.push(...(await AggregatorRegistry.aggregate(metrics.map((metric) => [metric])).getMetricsAsJSON()))
    await nextTurn()
  }
  return sums
}

/** Writes what `Registry.metrics` writes. */
export async function writeInSlices(collected: Collected[]) {
  const texts: string[] = []
  for (const metric of collected) {
    const lines: string[] = []
    for (let at = 0; at === 0 || at < metric.values.length; at += SERIES) {
      const text = await textOf({ ...metric, values: metric.values.slice(at, at + SERIES) })
      lines.push(at ? withoutHeader(text) : text)
      await nextTurn()
    }
    texts.push(lines.join('\n'))
  }
  return `${texts.join('\n\n')}\n`
}

function textOf(metric: Collected) {
  const registry = new Registry()
  // The registry calls only `get`.
  registry.registerMetric({ name: metric.name, get: async () => metric } as unknown as Metric)
  return registry.getSingleMetricAsString(metric.name)
}

/** Without the lines HELP and TYPE. */
const withoutHeader = (text: string) => text.split('\n').slice(2).join('\n')
