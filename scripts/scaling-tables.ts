import { remedies, short, size } from '../src/cli/capacity.ts'
import { type CapacityPlan, defaultInput, planCapacity } from '../src/operations/capacity/rules.ts'
import {
  clusterCosts,
  costs,
  limits,
  measurements,
  type Operation,
  operations,
  tableFamilies,
} from '../src/operations/capacity/rules-costs.ts'
import { code, inlineCode, table, wrap } from './markdown.ts'

const SAMPLES_PER_ORDER = 10_000
const LARGEST = 1_000_000

const planOf = (orders_per_day: number, samples_per_day: number) => planCapacity({ ...defaultInput, orders_per_day, samples_per_day })

/** The tables of docs/scaling.md, computed from the costs. */
export const scalingTables = () => ({
  loads: loadsTable(),
  bottlenecks: bottlenecksTable(),
  costs: costsTable(),
  'cluster-costs': clusterCostsTable(),
  limits: limitsTable(),
})

const loadsTable = () =>
  table(
    ['Orders per day', 'Samples per day', 'API', 'Workers', 'Database', 'WAL per day', 'Disk', 'Deployment'],
    [1000, 10_000, 100_000, LARGEST].map((orders) => {
      const plan = planOf(orders, orders * SAMPLES_PER_ORDER)
      const { cores, wal, disk } = plan
      const { coordinator, citus_worker, database = coordinator } = cores
      const workers = citus_worker ? ` and ${short(citus_worker.used)} in each worker` : ''
      return [
        ...[short(orders), short(orders * SAMPLES_PER_ORDER), short(cores.api.used), short(cores.worker.used)],
        ...[`${short(database?.used ?? 0)}${workers}`, size(wal.per_day), size(disk.total.total), deploymentOf(plan)],
      ]
    }),
  )

function deploymentOf({ deployment: { name, servers, pooler } }: CapacityPlan) {
  const names = {
    embedded: 'embedded',
    postgres: 'one PostgreSQL',
    failover: `failover, ${servers} servers`,
    citus: `Citus, ${servers} workers`,
  }
  return `${names[name]}${pooler ? ', pooler' : ''}`
}

/** Where each limit is reached with orders only, with samples only, and with both. */
function bottlenecksTable() {
  const [orders, samples] = [planOf(1, 0).bottlenecks, planOf(0, 1).bottlenecks]
  const reached = (bottlenecks: CapacityPlan['bottlenecks'], name: string) => bottlenecks.find((one) => one.name === name)
  return table(
    ['Bottleneck', 'Orders only', 'Samples only', 'Both, 10,000 samples per order', 'Next step'],
    planOf(1, SAMPLES_PER_ORDER).bottlenecks.map(({ name, orders_per_day, samples_per_day, takes_over }) => [
      name,
      short(reached(orders, name)?.orders_per_day ?? 0),
      short(reached(samples, name)?.samples_per_day ?? 0),
      `${short(orders_per_day)} and ${short(samples_per_day)}`,
      remedies[takes_over],
    ]),
  )
}

const rowsOf = (cellsOf: (operation: Operation) => number[]) =>
  Object.entries(operations).map(([name, what]) => [what, ...cellsOf(name as Operation).map(short)])

const captionOf = ({ command, on }: { command: string; on: string }) => wrap(`Measured by ${code(command)} on ${on}.`)

const costsTable = () => [
  ...table(
    ['Operation', 'API, ms', 'Worker, ms', 'Database, ms', 'WAL, bytes', 'Disk, bytes', 'Network, bytes'],
    rowsOf((operation) => {
      const { api, worker, database, wal, received, sent, ...rest } = costs[operation]
      const disk = tableFamilies.reduce((sum, family) => sum + rest[`${family}_disk`], 0)
      return [api, worker, database, wal, disk, received + sent]
    }),
  ),
  ...captionOf(measurements.costs),
  '',
]

const clusterCostsTable = () => [
  ...table(
    ['Operation', 'Coordinator, ms', 'Workers, ms', 'One PostgreSQL, ms'],
    rowsOf((operation) => [clusterCosts[operation].coordinator, clusterCosts[operation].shards, costs[operation].database]),
  ),
  ...captionOf(measurements.cluster_costs),
  '',
]

const limitsTable = () =>
  table(
    ['Limit', 'Value', 'Source'],
    Object.entries(limits).map(([name, { value, unit, source }]) => [
      name.replaceAll('_', ' ').replace('wal', 'WAL'),
      unit.startsWith('bytes') ? `${size(value)}${unit.slice('bytes'.length)}` : `${short(value)} ${unit}`,
      inlineCode(source.replace(measurements.costs.command, code)),
    ]),
  )
