import { limits } from './rules-costs.ts'
import type { Workload } from './rules-load.ts'

/** The largest database server that the operator can provide, and the share of the largest team. */
export type Hardware = { server_cores: number; server_disk_tb: number; largest_team_percent: number }

/** What a load needs in the busiest hour: cores, bytes on disk, and bytes, rows and events per second. */
export type Demand = {
  service_cores: number
  database_cores: number
  coordinator_cores: number
  shard_cores: number
  disk: number
  wal: number
  audit_rows: number
  events: number
}

type Limit = {
  name: string
  used: number
  limit: number
  unit: string
  takes_over: 'postgres' | 'pooler' | 'failover' | 'citus' | 'teams' | 'cells'
}

/** A limit with the load at which it is reached. `full_at` is the multiple of the given load. */
export type Bottleneck = Limit & { full_at: number; orders_per_day: number; samples_per_day: number }

/** What one database server can provide. */
const serverCapacity = ({ server_cores, server_disk_tb }: Hardware) => ({
  cores: server_cores * limits.utilization.value,
  disk: server_disk_tb * 1e12 * limits.disk_utilization.value,
  wal: limits.wal_rate.value,
})

/** Every limit, in the order in which the load reaches them. */
export function findBottlenecks(demand: Demand, input: Workload & Hardware): Bottleneck[] {
  const onServer = serverLimits(demand, input)
  const cluster = Math.min(...onServer.filter(({ takes_over }) => takes_over === 'citus').map(fullAt))
  // The limits of a cluster apply only to loads that need one.
  const inCluster = clusterLimits(demand, input).map((limit) => withLoad(limit, Math.max(cluster, fullAt(limit)), input))
  return [...onServer.map((limit) => withLoad(limit, fullAt(limit), input)), ...inCluster].sort((a, b) => a.full_at - b.full_at)
}

const fullAt = ({ used, limit }: Limit) => limit / used

const withLoad = (limit: Limit, full_at: number, { orders_per_day, samples_per_day }: Workload): Bottleneck => ({
  ...limit,
  ...{ full_at, orders_per_day: orders_per_day * full_at, samples_per_day: samples_per_day * full_at },
})

function serverLimits(demand: Demand, input: Hardware): Limit[] {
  const { service_cores, database_cores, disk, wal } = demand
  const server = serverCapacity(input)
  const utilization = limits.utilization.value
  const ofTeam = input.largest_team_percent / 100
  return [
    { name: 'one service process', used: service_cores, limit: utilization, unit: 'cores', takes_over: 'postgres' },
    {
      name: 'database connections',
      used: (service_cores / utilization) * limits.pool_size.value,
      limit: limits.direct_connections.value,
      unit: 'connections',
      takes_over: 'pooler',
    },
    {
      name: 'time to restore a lost server',
      used: disk / limits.restore_rate.value,
      limit: limits.restore_time.value,
      unit: 'seconds',
      takes_over: 'failover',
    },
    { name: 'CPU of the database server', used: database_cores, limit: server.cores, unit: 'cores', takes_over: 'citus' },
    { name: 'disk of the database server', used: disk, limit: server.disk, unit: 'bytes', takes_over: 'citus' },
    { name: 'write-ahead log of the database server', used: wal, limit: server.wal, unit: 'bytes per second', takes_over: 'citus' },
    {
      name: 'audit chain of the largest team',
      used: demand.audit_rows * ofTeam,
      limit: limits.audit_chain.value * utilization,
      unit: 'rows per second',
      takes_over: 'teams',
    },
    {
      name: 'event log of the largest team',
      used: demand.events * ofTeam,
      limit: limits.event_log.value * utilization,
      unit: 'events per second',
      takes_over: 'teams',
    },
  ]
}

/** A team is on one Citus worker. Every statement passes through the coordinator. */
function clusterLimits(demand: Demand, input: Hardware): Limit[] {
  const server = serverCapacity(input)
  const teamOnWorker = workersFor(demand, input) * (input.largest_team_percent / 100)
  return [
    { name: 'Citus worker of the largest team', used: teamOnWorker, limit: 1, unit: 'workers', takes_over: 'teams' },
    { name: 'CPU of the Citus coordinator', used: demand.coordinator_cores, limit: server.cores, unit: 'cores', takes_over: 'cells' },
  ]
}

/** How many Citus workers the load fills. */
export function workersFor({ shard_cores, disk, wal }: Demand, input: Hardware) {
  const server = serverCapacity(input)
  return Math.max(shard_cores / server.cores, disk / server.disk, wal / server.wal)
}
