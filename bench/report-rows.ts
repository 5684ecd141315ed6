import type { BareLoop } from './bare-loop.ts'
import type { measureBytes } from './bytes.ts'
import type { measureIngest } from './ingest.ts'
import type { Pages } from './lists.ts'
import { median, percentile } from './numbers.ts'
import type { Placing, Variant } from './orders.ts'
import { FEW, type measureReads } from './reads.ts'
import type { Row } from './report-page.ts'
import type { measureStartUp } from './start-up.ts'
import type { measureBacklog } from './webhooks.ts'

const inWords = (value: number) => value.toLocaleString('en')

/** `result` returns the median of a measurement of bench/calm.ts. */
export function calmRows(result: (name: string) => number, bare: { burst: BareLoop; calm: BareLoop }): Row[] {
  const cpu = (name: string) => result(`${name} service`) + result(`${name} database`)
  const receipt = (percent: number) => ({ name: 'undici alone', value: percentile(bare.calm.latencies, percent) })
  return [
    {
      name: 'Burst, accepted and delivered',
      value: result('burst rate'),
      unit: '/s',
      limit: { name: 'undici alone', value: bare.burst.rate },
      target: { atLeast: 1400 },
    },
    { name: 'Burst, CPU time per 1,000', value: cpu('burst'), unit: 's' },
    { name: 'Calm, CPU time per 1,000', value: cpu('calm'), unit: 's', target: { atMost: 2.5 } },
    { name: 'Calm, request p50', value: result('calm request p50'), unit: 'ms' },
    { name: 'Calm, request p99', value: result('calm request p99'), unit: 'ms', target: { atMost: 10 } },
    { name: 'Calm, response to receipt p50', value: result('calm receipt p50'), unit: 'ms', limit: receipt(50), target: { atMost: 1 } },
    { name: 'Calm, response to receipt p99', value: result('calm receipt p99'), unit: 'ms', limit: receipt(99), target: { atMost: 8 } },
    { name: 'Single push on an idle service, response to receipt', value: result('single receipt'), unit: 'ms', target: { atMost: 5 } },
    { name: 'Idle, CPU time of service and PostgreSQL', value: cpu('idle'), unit: '% of a core', target: { atMost: 0.7 } },
  ]
}

type Memory = { service: number; database: number }

export const memoryRows = (idle: Memory, loaded: Memory): Row[] => [
  { name: 'Memory of the service, idle', value: idle.service, unit: 'MB', target: { atMost: 180 } },
  { name: 'Memory of the service, after a burst', value: loaded.service, unit: 'MB', target: { atMost: 400 } },
  { name: 'Memory of the embedded PostgreSQL, idle', value: idle.database, unit: 'MB' },
  { name: 'Memory of the embedded PostgreSQL, after a burst', value: loaded.database, unit: 'MB' },
]

export const startUpRows = ({ first, again }: Awaited<ReturnType<typeof measureStartUp>>): Row[] => [
  { name: 'First start', value: first / 1000, unit: 's' },
  { name: 'Later start', value: again / 1000, unit: 's' },
]

export function backlogRows({ several, long, bare }: Awaited<ReturnType<typeof measureBacklog>>, backlog: number): Row[] {
  const rate = median(several.map((drain) => drain.rate))
  const wrong = [...several, long].reduce((sum, drain) => sum + drain.wrong, 0)
  const limit = { name: 'undici alone', value: bare.rate }
  return [
    { name: 'Delivered', value: rate, unit: '/s', limit, target: { atLeast: 5000 } },
    {
      name: `Delivered, ${inWords(backlog)} messages pending`,
      value: long.rate,
      unit: '/s',
      limit: { name: 'the short backlog', value: rate },
    },
    { name: 'CPU time per 1,000', value: median(several.map(({ serviceMs, serverMs }) => serviceMs + serverMs)), unit: 's' },
    { name: 'Messages with a wrong signature or out of order', value: wrong, unit: '', target: { atMost: 0 } },
  ]
}

export function placingRows({ held, immediate, pgbench }: Placing): Row[] {
  const limit = { name: 'pgbench', value: pgbench ? median(pgbench.rates) : Number.NaN }
  return [
    { name: 'Held until a later day', value: median(held.rates), unit: '/s', limit, target: { of: 'ratio', atLeast: 0.6 } },
    ...variantRows('Held', held, 25),
    { name: 'Sent to the lab at once, accepted', value: median(immediate.rates), unit: '/s', limit },
    {
      name: 'Sent to the lab at once, sustained',
      value: median(immediate.sustained),
      unit: '/s',
      limit,
      target: { of: 'ratio', atLeast: 0.5 },
    },
    ...variantRows('Sent at once', immediate),
  ]
}

const variantRows = (name: string, { latencies, serviceMs, serverMs }: Variant, p99?: number): Row[] => [
  { name: `${name}, request p50`, value: percentile(latencies, 50), unit: 'ms' },
  { name: `${name}, request p99`, value: percentile(latencies, 99), unit: 'ms', ...(p99 ? { target: { atMost: p99 } } : {}) },
  { name: `${name}, CPU time per order`, value: median(serviceMs) + median(serverMs), unit: 'ms' },
]

/** The targets in milliseconds, by the number of orders. */
const pageTargets: Record<number, number> = { 10000: 5, 1000000: 8 }
const listTargets: Record<string, Record<number, number>> = {
  'First page of orders': pageTargets,
  'Orders by status': pageTargets,
  'Orders by user': pageTargets,
  'One order': { 10000: 3, 1000000: 3 },
  'Users by name': { 10000: 10, 1000000: 10 },
}

export const listRows = (sizes: number[], pages: Pages[]): Row[] =>
  Object.keys(pages[0] ?? {}).flatMap((name) =>
    sizes.map((size, i): Row => {
      const p95 = (of: Pages | undefined) => of?.[name]?.p95 ?? Number.NaN
      const atMost = listTargets[name]?.[size]
      return {
        name: `${name}, ${inWords(size)} orders`,
        value: p95(pages[i]),
        unit: 'ms',
        ...(i ? { limit: { name: `${inWords(sizes[0] as number)} orders`, value: p95(pages[0]) } } : {}),
        ...(atMost ? { target: { atMost } } : {}),
      }
    }),
  )

export function sampleRows({ days, hours, sizes, reads, erasure, copy }: Awaited<ReturnType<typeof measureIngest>>): Row[] {
  const limit = { name: 'COPY', value: copy.rate }
  return [
    { name: 'Stored, a user-day per push', value: days.rate, unit: '/s', limit },
    { name: 'CPU time per sample, user-days', value: days.serviceUs + days.serverUs, unit: 'µs' },
    { name: 'Stored, an hour per push, merged into the day', value: hours.rate, unit: '/s', limit, target: { atLeast: 100_000 } },
    { name: 'CPU time per sample, hours', value: hours.serviceUs + hours.serverUs, unit: 'µs' },
    { name: 'Sample table, per sample of a user-day', value: sizes.table, unit: 'bytes', limit: { name: 'COPY', value: copy.bytes } },
    ...reads.map(
      ({ samples, latencies }, i): Row => ({
        name: `Reading a user-day of ${inWords(samples)} samples`,
        value: percentile(latencies, 95),
        unit: 'ms',
        ...(i ? {} : { target: { atMost: 5 } }),
      }),
    ),
    { name: `Erasing a user with ${inWords(erasure.samples)} samples`, value: erasure.ms, unit: 'ms' },
  ]
}

export const storageRows = ({ days, small }: Awaited<ReturnType<typeof measureBytes>>): Row[] =>
  [{ growth: days, atMost: 20 } as const, { growth: small, atMost: 60 } as const].flatMap(({ growth, atMost }): Row[] => [
    {
      name: `Whole database, per sample, pushes of ${inWords(growth.perPush)}`,
      value: growth.compact,
      unit: 'bytes',
      target: { atMost },
    },
    { name: `Sample table, per sample, pushes of ${inWords(growth.perPush)}`, value: growth.sampleTable, unit: 'bytes' },
  ])

export const readRows = ({ few, many }: Awaited<ReturnType<typeof measureReads>>, users: number): Row[] =>
  Object.entries(few).map(([name, latencies]) => ({
    name: `${name}, ${inWords(users)} users`,
    value: percentile(many[name] ?? [], 95),
    unit: 'ms',
    limit: { name: `${FEW} users`, value: percentile(latencies, 95) },
  }))
