import { z } from 'zod'
import { type CapacityPlan, defaultInput as defaults, planCapacity } from '../operations/capacity/rules.ts'
import type { Bottleneck } from '../operations/capacity/rules-bottlenecks.ts'
import { peakPerSecond } from '../operations/capacity/rules-load.ts'
import { command, print } from './command.ts'
import { listing } from './listing.ts'
import { usageError } from './options.ts'

const inWords = (value: number) => value.toLocaleString('en')

/** A number without a sign or an exponent. Commas and underscores between digits are accepted, because these numbers are long. */
const Amount = (low: number, high: number, remedy = '', pattern = /^\d[\d,_]*$/) => {
  const message = `Must be a ${pattern.test('0.5') ? '' : 'whole '}number from ${inWords(low)} to ${inWords(high)}.${remedy && ` ${remedy}`}`
  return z
    .string()
    .regex(pattern, message)
    .transform((text) => Number(text.replace(/[,_]/g, '')))
    .refine((value) => value >= low && value <= high, message)
}
const Decimal = (low: number, high: number, remedy?: string) => Amount(low, high, remedy, /^\d[\d,_]*(\.\d+)?$/)

const MAX_ORDERS = 1_000_000
const MAX_SAMPLES = 10_000_000_000
const SPLIT = 'For more, plan several deployments, such as one per region.'

export const capacityCommand = command({
  name: 'capacity',
  summary:
    'Compute the CPU, connections, disk, write-ahead log and network that a load needs, its first three bottlenecks, and the deployment to choose. The command uses measured costs and needs no database.',
  options: {
    'orders-per-day': {
      value: 'N',
      what: `Orders placed per day, from 0 to ${inWords(MAX_ORDERS)}.`,
      shape: Amount(0, MAX_ORDERS, SPLIT),
      required: true,
    },
    'samples-per-day': {
      value: 'N',
      what: `Wearable samples pushed per day, from 0 to ${inWords(MAX_SAMPLES)}.`,
      shape: Amount(0, MAX_SAMPLES, SPLIT),
      required: true,
    },
    webhooks: { value: 'N', what: 'Webhooks that receive each event.', shape: Amount(0, 100), fallback: String(defaults.webhooks) },
    'events-per-order': {
      value: 'N',
      what: 'Events of an order from placing it to its results.',
      shape: Decimal(1, 100, 'Placing an order is the first event.'),
      fallback: String(defaults.events_per_order),
    },
    'reads-per-order': {
      value: 'N',
      what: 'API reads per order, by your service and by the console.',
      shape: Decimal(0, 10_000),
      fallback: String(defaults.reads_per_order),
    },
    'samples-per-push': {
      value: 'N',
      what: 'Samples in one push. Each user and resource has about one push per hour.',
      shape: Decimal(1, 100_000),
      fallback: String(defaults.samples_per_push),
    },
    'peak-factor': {
      value: 'N',
      what: 'Load of the busiest hour divided by the mean of all hours.',
      shape: Decimal(1, 24, 'A whole day in one hour is 24.'),
      fallback: String(defaults.peak_factor),
    },
    'retention-days': {
      value: 'N',
      what: 'Days to keep events and delivery attempts, as in EVENT_RETENTION_DAYS.',
      shape: Amount(1, 3650),
      fallback: String(defaults.retention_days),
    },
    'after-days': {
      value: 'N',
      what: 'Days of operation for the total disk size.',
      shape: Amount(1, 36_500),
      fallback: String(defaults.after_days),
    },
    'server-cores': {
      value: 'N',
      what: 'Cores of the largest database server that you can provide.',
      shape: Amount(1, 1024),
      fallback: String(defaults.server_cores),
    },
    'server-disk-tb': {
      value: 'N',
      what: 'Disk of that server in terabytes.',
      shape: Decimal(0.01, 1000),
      fallback: String(defaults.server_disk_tb),
    },
    'largest-team-percent': {
      value: 'N',
      what: 'Share of the load that comes from the largest team.',
      shape: Decimal(0.01, 100),
      fallback: String(defaults.largest_team_percent),
    },
  },
  examples: [
    'assay capacity --orders-per-day 2000 --samples-per-day 0',
    'assay capacity --orders-per-day 1000000 --samples-per-day 10000000000 --webhooks 2 --json',
  ],
  async run({ json, ...options }) {
    if (!options['orders-per-day'] && !options['samples-per-day'])
      throw usageError('--orders-per-day and --samples-per-day are both 0. Set at least one of them to the load you expect.')
    const plan = planCapacity({
      orders_per_day: options['orders-per-day'],
      samples_per_day: options['samples-per-day'],
      webhooks: options.webhooks,
      events_per_order: options['events-per-order'],
      reads_per_order: options['reads-per-order'],
      samples_per_push: options['samples-per-push'],
      peak_factor: options['peak-factor'],
      retention_days: options['retention-days'],
      after_days: options['after-days'],
      server_cores: options['server-cores'],
      server_disk_tb: options['server-disk-tb'],
      largest_team_percent: options['largest-team-percent'],
    })
    print(json, plan, linesOf(plan))
  },
})

function linesOf(plan: CapacityPlan) {
  const { input, per_day, cores, connections, disk, wal, network, bottlenecks } = plan
  const table = (header: string[], rows: string[][]) => [...listing(header, rows, '', true), '']
  const peak = (perDay: number) => `${short(peakPerSecond(perDay, input))}/s`
  return [
    ...table(
      ['Load', 'per day', 'busiest hour'],
      Object.entries(per_day).map(([name, count]) => [name, short(count), peak(count)]),
    ),
    ...table(
      ['CPU', 'cores used', 'cores to provide'],
      Object.entries(cores).map(([name, { used, provide }]) => [coreNames[name] ?? name, short(used), String(provide)]),
    ),
    ...table(
      ['Disk', 'per day', `after ${inWords(input.after_days)} days`],
      Object.entries(disk.total).map(([name, bytes]) => [name, size(disk.per_day[name as keyof typeof disk.total]), size(bytes)]),
    ),
    ...table(
      ['Other', 'per day', 'busiest hour'],
      [
        ['write-ahead log', size(wal.per_day), `${size(wal.peak_per_second)}/s`],
        ['network', size(network.received_per_day + network.sent_per_day), `${size(network.peak_per_second)}/s`],
        ['database connections', '', String(connections)],
      ],
    ),
    ...table(['Bottleneck', 'reached at', 'orders per day', 'samples per day', 'next step'], bottlenecks.slice(0, 3).map(bottleneckCells)),
    ...deploymentLines(plan),
  ]
}

const coreNames: Record<string, string> = {
  api: 'API',
  worker: 'workers',
  database: 'PostgreSQL',
  coordinator: 'Citus coordinator',
  citus_worker: 'each Citus worker',
}

const bottleneckCells = ({ name, full_at, orders_per_day, samples_per_day, takes_over }: Bottleneck) => [
  name,
  timesLoad(full_at),
  short(orders_per_day),
  short(samples_per_day),
  remedies[takes_over],
]

const timesLoad = (factor: number) => (factor < 2 ? `${short(factor * 100)}% of this load` : `${short(factor)} times this load`)

export const remedies: Record<Bottleneck['takes_over'], string> = {
  postgres: 'one PostgreSQL, with API and worker processes',
  pooler: 'PgBouncer in front of PostgreSQL',
  failover: 'standbys for failover',
  citus: 'Citus',
  teams: 'several teams instead of one',
  cells: 'several deployments, such as one per region',
}

function deploymentLines({ cores: { coordinator }, deployment: { name, servers, cores, disk, pooler, unsolved } }: CapacityPlan) {
  const machine = `${cores} cores and ${size(disk)} of disk`
  const titles = {
    embedded: `one service with the embedded PostgreSQL is enough, on a machine with ${machine}`,
    postgres: `one PostgreSQL server with ${machine}`,
    failover: `a primary and two standbys, ${servers} PostgreSQL servers with ${machine} each`,
    citus: `Citus, ${servers} workers with ${machine} each, and a coordinator with ${coordinator?.provide} cores, each with two standbys`,
  }
  return [
    `Deployment: ${titles[name]}${pooler ? '; PgBouncer in front' : ''}.`,
    ...(name === 'failover' || name === 'citus'
      ? ['With asynchronous replication, one standby is enough, but a failover can lose orders.']
      : []),
    ...unsolved.map((one) => `Not enough: ${one.name}, reached at ${timesLoad(one.full_at)}. Use ${remedies[one.takes_over]}.`),
    'docs/scaling.md explains the numbers.',
  ]
}

/** Three significant digits. */
export const short = (value: number) => (Number.isFinite(value) ? value.toLocaleString('en', { maximumSignificantDigits: 3 }) : 'never')

const sizeUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

export function size(bytes: number) {
  const power = Math.min(sizeUnits.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  return `${short(bytes / 1000 ** power)} ${sizeUnits[power]}`
}
