/** Orders, results and patients; the event log; webhook queues and attempts; wearable data; the audit log. */
export const tableFamilies = ['orders', 'events', 'deliveries', 'samples', 'audit'] as const
export type TableFamily = (typeof tableFamilies)[number]

/**
 * What an operation uses: milliseconds of CPU in API processes, worker processes and PostgreSQL, bytes of write-ahead log, bytes
 * received and sent, bytes on disk by table family, and rows in the audit log.
 */
type Resource = 'api' | 'worker' | 'database' | 'wal' | 'received' | 'sent' | `${TableFamily}_disk` | 'audit_rows'
export type Usage = Record<Resource, number>

/** The CPU time in the coordinator and in the workers of a Citus cluster, instead of `database`. */
export const clusterResources = ['coordinator', 'shards'] as const
export type ClusterUsage = Record<(typeof clusterResources)[number], number>

export const operations = {
  order: 'placing an order, with its first event',
  event: 'each further event of an order: dispatch, a step or results that the lab reports',
  delivery: 'delivering an event to one receiver',
  read: 'reading an order, its results or its user',
  push: 'an hourly push of wearable data with its event, without its samples',
  sample: 'each sample of such a push, in the day of its user and in the event',
  delivered_sample: 'each sample in an event that is delivered to one receiver',
} as const
export type Operation = keyof typeof operations

/** The commands that measured the costs, and where. */
export const measurements = {
  costs: {
    command: 'npm run bench -- costs',
    on: '2 Xeon cores with PostgreSQL 18, 1,000 orders per run',
  },
  cluster_costs: {
    command: 'npm run bench -- costs --database URL',
    on: 'Citus 13.2 on PostgreSQL 15, a coordinator and two workers on the same 2 cores, 300 orders per run',
  },
} as const

/** `measurements.costs` prints these rows. */
export const costs: Record<Operation, Usage> = {
  order: {
    orders_disk: 2150,
    events_disk: 1520,
    deliveries_disk: 0,
    samples_disk: 0,
    audit_disk: 475,
    audit_rows: 1,
    api: 1.48,
    worker: 0.15,
    database: 1.18,
    wal: 29500,
    received: 663,
    sent: 4950,
  },
  event: {
    orders_disk: 6560,
    events_disk: 1480,
    deliveries_disk: 0,
    samples_disk: 0,
    audit_disk: 391,
    audit_rows: 0.75,
    api: 1.82,
    worker: 0.615,
    database: 2.34,
    wal: 52000,
    received: 587,
    sent: 1310,
  },
  delivery: {
    orders_disk: 0,
    events_disk: 0,
    deliveries_disk: 848,
    samples_disk: 0,
    audit_disk: 0,
    audit_rows: 0,
    api: 0.338,
    worker: 0.98,
    database: 1.3,
    wal: 14000,
    received: 0,
    sent: 5650,
  },
  read: {
    orders_disk: 0,
    events_disk: 0,
    deliveries_disk: 0,
    samples_disk: 0,
    audit_disk: 461,
    audit_rows: 1,
    api: 1.1,
    worker: 0.103,
    database: 0.537,
    wal: 2020,
    received: 185,
    sent: 10200,
  },
  push: {
    orders_disk: 0,
    events_disk: 482,
    deliveries_disk: 0,
    samples_disk: 57.3,
    audit_disk: 394,
    audit_rows: 1,
    api: 1.61,
    worker: 0.11,
    database: 1.29,
    wal: 6680,
    received: 325,
    sent: 372,
  },
  sample: {
    orders_disk: 0,
    events_disk: 4.14,
    deliveries_disk: 0,
    samples_disk: 0.935,
    audit_disk: 0,
    audit_rows: 0,
    api: 0.00704,
    worker: 0.00119,
    database: 0.00144,
    wal: 22.4,
    received: 119,
    sent: 0,
  },
  delivered_sample: {
    orders_disk: 0,
    events_disk: 0,
    deliveries_disk: 0,
    samples_disk: 0,
    audit_disk: 0,
    audit_rows: 0,
    api: 0,
    worker: 0.00119,
    database: 0.00203,
    wal: 25.1,
    received: 0,
    sent: 103,
  },
}

/** `measurements.cluster_costs` prints these rows, with the URL of a coordinator. */
export const clusterCosts: Record<Operation, ClusterUsage> = {
  order: { coordinator: 1.8, shards: 4.07 },
  event: { coordinator: 4.7, shards: 8.06 },
  delivery: { coordinator: 0.28, shards: 2.45 },
  read: { coordinator: 1.38, shards: 1.4 },
  push: { coordinator: 2.25, shards: 6.34 },
  sample: { coordinator: 0.00188, shards: 0.000694 },
  delivered_sample: { coordinator: 0, shards: 0 },
}

/** Values that limit a deployment. `source` is the command that measured the value, or the reason for an assumption. */
export const limits = {
  events_per_order: { value: 5, unit: 'events', source: measurements.costs.command },
  audit_chain: { value: 12_000, unit: 'rows of one team per second', source: measurements.costs.command },
  event_log: { value: 17_500, unit: 'events of one team per second', source: measurements.costs.command },
  utilization: { value: 0.6, unit: 'of the CPU', source: 'assumption: the rest is for bursts, vacuum, backups and a lost process' },
  disk_utilization: { value: 0.7, unit: 'of the disk', source: 'assumption: the rest is for write-ahead log, bloat and maintenance' },
  pool_size: { value: 10, unit: 'connections per process', source: 'the default of DATABASE_POOL_SIZE' },
  direct_connections: {
    value: 33,
    unit: 'connections',
    source:
      'assumption: a third of the default max_connections of PostgreSQL, 100; the rest is for autoscaling, upgrades and other programs',
  },
  wal_rate: { value: 100e6, unit: 'bytes per second', source: 'assumption: a standby replays the write-ahead log in one process' },
  restore_rate: { value: 100e6, unit: 'bytes per second', source: 'assumption: restoring a base backup over a network of 1 Gbit/s' },
  restore_time: { value: 3600, unit: 'seconds', source: 'assumption: the longest acceptable outage after the loss of the only server' },
} as const
