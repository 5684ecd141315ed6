import { type Bottleneck, type Demand, findBottlenecks, type Hardware, workersFor } from './rules-bottlenecks.ts'
import { limits } from './rules-costs.ts'
import { diskSizes, operationsPerDay, peakPerSecond, usagePerDay, type Workload } from './rules-load.ts'

export type CapacityInput = Workload & Hardware
export type CapacityPlan = ReturnType<typeof planCapacity>

/** The defaults of the command's options. */
export const defaultInput: Omit<CapacityInput, 'orders_per_day' | 'samples_per_day'> = {
  webhooks: 1,
  events_per_order: limits.events_per_order.value,
  reads_per_order: 10,
  samples_per_push: 60,
  peak_factor: 3,
  retention_days: 90,
  after_days: 365,
  server_cores: 32,
  server_disk_tb: 16,
  largest_team_percent: 10,
}

/** Computes what a load needs, the limits in the order in which it reaches them, and the smallest deployment for it. */
export function planCapacity(input: CapacityInput) {
  const counts = operationsPerDay(input)
  const { order, event, push, delivery, read, sample } = counts
  const events = order + event + push
  const used = usagePerDay(counts)
  const disk = diskSizes(used, input)
  const peak = (perDay: number) => peakPerSecond(perDay, input)
  const cores = (msPerDay: number) => peak(msPerDay) / 1000
  const [api, worker] = [usedCores(cores(used.api)), usedCores(cores(used.worker))]
  const demand: Demand = {
    service_cores: api.used + worker.used,
    database_cores: cores(used.database),
    coordinator_cores: cores(used.coordinator),
    shard_cores: cores(used.shards),
    disk: disk.total.total,
    wal: peak(used.wal),
    audit_rows: peak(used.audit_rows),
    events: peak(events),
  }
  const bottlenecks = findBottlenecks(demand, input)
  const deployment = chooseDeployment(demand, bottlenecks, input)
  return {
    input,
    per_day: { orders: order, events, deliveries: delivery, reads: read, pushes: push, samples: sample },
    cores: { api, worker, ...databaseCores(demand, deployment) },
    connections: (api.provide + worker.provide) * limits.pool_size.value,
    disk,
    wal: { per_day: used.wal, peak_per_second: demand.wal },
    network: { received_per_day: used.received, sent_per_day: used.sent, peak_per_second: peak(used.received + used.sent) },
    bottlenecks,
    deployment,
  }
}

/** Cores in the busiest hour, and whole cores to provide for them. A process uses one core. */
type Cores = { used: number; provide: number }

const usedCores = (used: number, atLeast = 1): Cores => ({ used, provide: Math.max(atLeast, Math.ceil(used / limits.utilization.value)) })

const MIN_SERVER_CORES = 2
/** Cores of a machine with PostgreSQL. */
const serverCores = (used: number) => usedCores(used, MIN_SERVER_CORES)

type Deployment = {
  name: 'embedded' | 'postgres' | 'failover' | 'citus'
  /** Whether a pooler is in front of the database. */
  pooler: boolean
  /** The machines with PostgreSQL: with failover, a primary and two standbys; with Citus, the workers without coordinator and standbys. */
  servers: number
  /** Cores and bytes of disk of each. The embedded PostgreSQL shares the machine with Assay. */
  cores: number
  disk: number
  /** Limits that no deployment raises. The load has to be split over teams or deployments. */
  unsolved: Bottleneck[]
}

function chooseDeployment(demand: Demand, bottlenecks: Bottleneck[], input: CapacityInput): Deployment {
  const reached = bottlenecks.filter(({ full_at }) => full_at < 1)
  const needs = (takes_over: Bottleneck['takes_over']) => reached.some((one) => one.takes_over === takes_over)
  const unsolved = reached.filter(({ takes_over }) => takes_over === 'teams' || takes_over === 'cells')
  const name = needs('citus') ? 'citus' : needs('failover') ? 'failover' : needs('postgres') ? 'postgres' : 'embedded'
  const servers = { embedded: 1, postgres: 1, failover: 3, citus: Math.max(2, Math.ceil(workersFor(demand, input))) }[name]
  const cores = {
    embedded: demand.service_cores + demand.database_cores,
    postgres: demand.database_cores,
    failover: demand.database_cores,
    citus: demand.shard_cores / servers,
  }[name]
  const disk = demand.disk / (name === 'citus' ? servers : 1) / limits.disk_utilization.value
  return { name, pooler: needs('pooler'), servers, cores: serverCores(cores).provide, disk, unsolved }
}

/** The CPU of the database: of one server, or of a coordinator and each worker. */
function databaseCores(demand: Demand, { name, servers }: Deployment): Partial<Record<'database' | 'coordinator' | 'citus_worker', Cores>> {
  if (name === 'citus')
    return { coordinator: serverCores(demand.coordinator_cores), citus_worker: serverCores(demand.shard_cores / servers) }
  // The embedded PostgreSQL has no machine of its own.
  return { database: (name === 'embedded' ? usedCores : serverCores)(demand.database_cores) }
}
