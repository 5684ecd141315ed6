import { Gauge, type Registry } from 'prom-client'

/** Counters cover one process. Gauges of a backlog read the database, so every process reports the same values. */
export type Registries = { registry: Registry; backlogs: Registry }

type Measure<R> = { name: string; help: string; measure(row: R): number | null }

/** Gauges of a backlog, one series per row. They share one query per scrape, and a scrape succeeds while the database is down. */
export function backlogGauges<L extends string, R extends Record<L, string>>(
  registry: Registry,
  load: () => Promise<R[]>,
  labelNames: L[],
  measures: Measure<R>[],
) {
  let pending: Promise<R[]> | undefined
  const loadOnce = () => {
    pending ??= load()
      .catch((): R[] => [])
      .finally(() => {
        pending = undefined
      })
    return pending
  }
  for (const { name, help, measure } of measures)
    new Gauge<string>({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const rows = await loadOnce()
        this.reset()
        for (const row of rows) {
          const value = measure(row)
          if (value !== null) this.set(Object.fromEntries(labelNames.map((label) => [label, row[label]])), value)
        }
      },
    })
}

export const ageInSeconds = (at: string | null) => (at ? Math.max(0, (Date.now() - Date.parse(at)) / 1000) : null)
