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
    on: '2 Xeon cores with PostgreSQL 18. PROVISIONAL: the bytes come from a run with 12 orders, and the CPU times are estimates from earlier runs of the benchmarks orders, webhooks and ingest',
  },
  cluster_costs: {
    command: 'npm run bench -- costs --database URL',
    on: 'two Citus workers. PROVISIONAL: only the placing of an order was measured, and the other rows have the same ratio to one PostgreSQL',
  },
} as const

/** `measurements.costs` prints these rows. */
export const costs: Record<Operation, Usage> = {
  order: {
    orders_disk: 7200,
    events_disk: 5460,
    deliveries_disk: 0,
    samples_disk: 0,
    audit_disk: 500,
    audit_rows: 1,
    api: 1.2,
    worker: 0.15,
    database: 0.9,
    wal: 173000,
    received: 661,
    sent: 4950,
  },
  event: {
    orders_disk: 7170,
    events_disk: 5970,
    deliveries_disk: 0,
    samples_disk: 0,
    audit_disk: 375,
    audit_rows: 0.75,
    api: 1.5,
    worker: 0.5,
    database: 1,
    wal: 129000,
    received: 587,
    sent: 1300,
  },
  delivery: {
    orders_disk: 0,
    events_disk: 0,
    deliveries_disk: 2460,
    samples_disk: 0,
    audit_disk: 0,
    audit_rows: 0,
    api: 0,
    worker: 0.35,
    database: 0.4,
    wal: 52100,
    received: 0,
    sent: 5650,
  },
  read: {
    orders_disk: 0,
    events_disk: 0,
    deliveries_disk: 0,
    samples_disk: 0,
    audit_disk: 455,
    audit_rows: 1,
    api: 0.6,
    worker: 0.15,
    database: 0.25,
    wal: 32800,
    received: 185,
    sent: 10200,
  },
  push: {
    orders_disk: 0,
    events_disk: 1290,
    deliveries_disk: 0,
    samples_disk: 110,
    audit_disk: 579,
    audit_rows: 1,
    api: 1.4,
    worker: 0.2,
    database: 0.9,
    wal: 32900,
    received: 325,
    sent: 372,
  },
  sample: {
    orders_disk: 0,
    events_disk: 108,
    deliveries_disk: 0,
    samples_disk: 1.2,
    audit_disk: 0,
    audit_rows: 0,
    api: 0.01,
    worker: 0.001,
    database: 0.004,
    wal: 161,
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
    worker: 0.0025,
    database: 0,
    wal: 0,
    received: 0,
    sent: 103,
  },
}

/** `measurements.cluster_costs` prints these rows, with the URL of a coordinator. */
export const clusterCosts: Record<Operation, ClusterUsage> = {
  order: { coordinator: 0.34, shards: 3.3 },
  event: { coordinator: 0.38, shards: 3.7 },
  delivery: { coordinator: 0.15, shards: 1.5 },
  read: { coordinator: 0.09, shards: 0.92 },
  push: { coordinator: 0.34, shards: 3.3 },
  sample: { coordinator: 0, shards: 0.004 },
  delivered_sample: { coordinator: 0, shards: 0 },
}

/** Values that limit a deployment. `source` is the command that measured the value, or the reason for an assumption. */
export const limits = {
  events_per_order: { value: 5, unit: 'events', source: measurements.costs.command },
  audit_chain: { value: 7300, unit: 'rows of one team per second', source: `PROVISIONAL, ${measurements.costs.command}` },
  event_numbering: { value: 32_700, unit: 'events of one team per second', source: `PROVISIONAL, ${measurements.costs.command}` },
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
