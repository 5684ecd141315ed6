import { Counter, Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { collectInSlices, writeInSlices } from '../../src/http/metrics/collect.ts'

test('metrics collected in slices equal the output of the library, even for thousands of series', async () => {
  const registry = new Registry()
  const counter = new Counter({ name: 'harbor_boats_total', help: 'Boats\nby "name".', labelNames: ['name'], registers: [registry] })
  for (let n = 0; n < 1201; n++) counter.inc({ name: `boat "${n}"` }, n)
  new Counter({ name: 'harbor_empty_total', help: 'None yet.', labelNames: ['name'], registers: [registry] })
  const histogram = new Histogram({ name: 'harbor_seconds', help: 'Waits.', labelNames: ['pier'], buckets: [1, 2], registers: [registry] })
  for (const pier of ['north', 'south']) histogram.observe({ pier }, 1.5)
  expect(await writeInSlices(await collectInSlices(registry))).toBe(await registry.metrics())
})
