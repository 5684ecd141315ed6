import type { BareLoop } from './bare-loop.ts'
import type { measureBytes } from './bytes.ts'
import type { measureIngest } from './ingest.ts'
import type { Pages } from './lists.ts'
import { median, percentile } from './numbers.ts'
import type { Placing, Variant } from './orders.ts'
import { FEW, type measureReads } from './reads.ts'
import type { Row } from './report-page.ts'
import type { measureStartUp } from './start-up.ts'
import type { Measured } from './statements.ts'
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
      reference: { name: 'undici alone', value: bare.burst.rate },
    },
    { name: 'Burst, CPU time per 1,000', value: cpu('burst'), unit: 's' },
    { name: 'Calm, CPU time per 1,000', value: cpu('calm'), unit: 's', reference: { name: 'the burst', value: cpu('burst') } },
    { name: 'Calm, request p50', value: result('calm request p50'), unit: 'ms' },
    { name: 'Calm, request p99', value: result('calm request p99'), unit: 'ms' },
    { name: 'Calm, response to receipt p50', value: result('calm receipt p50'), unit: 'ms', reference: receipt(50) },
    { name: 'Calm, response to receipt p99', value: result('calm receipt p99'), unit: 'ms', reference: receipt(99) },
    { name: 'Single push on an idle service, response to receipt', value: result('single receipt'), unit: 'ms' },
    { name: 'Idle, CPU time of service and PostgreSQL', value: cpu('idle'), unit: '% of a core' },
    { name: 'Memory of the service, idle', value: result('idle memory service'), unit: 'MB' },
    { name: 'Memory of the service, after a burst', value: result('burst memory service'), unit: 'MB' },
    { name: 'Memory of the embedded PostgreSQL, idle', value: result('idle memory database'), unit: 'MB' },
    { name: 'Memory of the embedded PostgreSQL, after a burst', value: result('burst memory database'), unit: 'MB' },
  ]
}

export const startUpRows = ({ first, again }: Awaited<ReturnType<typeof measureStartUp>>): Row[] => [
  { name: 'First start', value: first / 1000, unit: 's' },
  { name: 'Later start', value: again / 1000, unit: 's' },
]

export function backlogRows({ several, long, bare }: Awaited<ReturnType<typeof measureBacklog>>, backlog: number): Row[] {
  const rate = median(several.map((drain) => drain.rate))
  return [
    { name: 'Delivered', value: rate, unit: '/s', reference: { name: 'undici alone', value: bare.rate } },
    {
      name: `Delivered, ${inWords(backlog)} messages pending`,
      value: long.rate,
      unit: '/s',
      reference: { name: 'the short backlog', value: rate },
    },
    { name: 'CPU time per 1,000', value: median(several.map(({ serviceMs, serverMs }) => serviceMs + serverMs)), unit: 's' },
  ]
}

export const statementRows = (measured: Measured[]): Row[] =>
  measured.map(({ name, batch, calls, plain }) => ({
    name: batch === undefined ? name : `${name}, ${batch === 1 ? 'alone' : `in a batch of ${batch}`}`,
    value: calls.ms,
    unit: 'ms',
    reference: { name: 'plain statements', value: plain.ms },
  }))

export function placingRows({ held, immediate, users }: Placing, pgbench: Variant | undefined): Row[] {
  const reference = { name: 'pgbench', value: pgbench ? median(pgbench.rates) : Number.NaN }
  return [
    { name: 'Held until a later day', value: median(held.rates), unit: '/s', reference },
    ...variantRows('Held', 'order', held),
    { name: 'Sent to the lab at once, accepted', value: median(immediate.rates), unit: '/s', reference },
    { name: 'Sent to the lab at once, sustained', value: median(immediate.sustained), unit: '/s', reference },
    ...variantRows('Sent at once', 'order', immediate),
    { name: 'Users created', value: median(users.rates), unit: '/s' },
    ...variantRows('Users created', 'user', users),
  ]
}

const variantRows = (name: string, item: string, { latencies, serviceMs, serverMs }: Variant): Row[] => [
  { name: `${name}, request p50`, value: percentile(latencies, 50), unit: 'ms' },
  { name: `${name}, request p99`, value: percentile(latencies, 99), unit: 'ms' },
  { name: `${name}, CPU time per ${item}`, value: median(serviceMs) + median(serverMs), unit: 'ms' },
]

/** `pages` are those of one version, by size. */
export const listRows = (sizes: number[], pages: Pages[]): Row[] =>
  Object.entries(pages[0] ?? {}).flatMap(([name, smallest]) => [
    ...sizes.map(
      (size, i): Row => ({
        name: `${name}, ${inWords(size)} orders`,
        value: pages[i]?.[name]?.p95 ?? Number.NaN,
        unit: 'ms',
        ...(i ? { reference: { name: `${inWords(sizes[0] as number)} orders`, value: smallest.p95 } } : {}),
      }),
    ),
    { name: `${name}, CPU time`, value: smallest.serviceMs + smallest.serverMs, unit: 'ms' },
  ])

export function sampleRows({ days, hours, sizes, reads, erasure, copy }: Awaited<ReturnType<typeof measureIngest>>): Row[] {
  const reference = { name: 'COPY', value: copy.rate }
  return [
    { name: 'Stored, a user-day per push', value: days.rate, unit: '/s', reference },
    { name: 'CPU time per sample, user-days', value: days.serviceUs + days.serverUs, unit: 'µs' },
    { name: 'Stored, an hour per push, merged into the day', value: hours.rate, unit: '/s', reference },
    { name: 'CPU time per sample, hours', value: hours.serviceUs + hours.serverUs, unit: 'µs' },
    { name: 'Sample table, per sample of a user-day', value: sizes.table, unit: 'bytes', reference: { name: 'COPY', value: copy.bytes } },
    ...reads.map(
      ({ samples, latencies }): Row => ({
        name: `Reading a user-day of ${inWords(samples)} samples`,
        value: percentile(latencies, 95),
        unit: 'ms',
      }),
    ),
    { name: `Erasing a user with ${inWords(erasure.samples)} samples`, value: erasure.ms, unit: 'ms' },
  ]
}

export const storageRows = ({ days, small }: Awaited<ReturnType<typeof measureBytes>>): Row[] =>
  [days, small].flatMap((growth): Row[] => [
    { name: `Whole database, per sample, pushes of ${inWords(growth.perPush)}`, value: growth.compact, unit: 'bytes' },
    { name: `Sample table, per sample, pushes of ${inWords(growth.perPush)}`, value: growth.sampleTable, unit: 'bytes' },
  ])

export const readRows = ({ few, many }: Awaited<ReturnType<typeof measureReads>>, users: number): Row[] =>
  Object.entries(few).map(([name, latencies]) => ({
    name: `${name}, ${inWords(users)} users`,
    value: percentile(many[name] ?? [], 95),
    unit: 'ms',
    reference: { name: `${FEW} users`, value: percentile(latencies, 95) },
  }))
