import { describe, expect, test } from 'vitest'
import { type CapacityInput, defaultInput, planCapacity } from '../../src/operations/capacity/rules.ts'
import { findBottlenecks } from '../../src/operations/capacity/rules-bottlenecks.ts'

const defaults: CapacityInput = { ...defaultInput, orders_per_day: 1000, samples_per_day: 1_000_000 }
const plan = (change: Partial<CapacityInput> = {}) => planCapacity({ ...defaults, ...change })
const largest = { orders_per_day: 1_000_000, samples_per_day: 10_000_000_000 }

describe('what a load needs', () => {
  test('twice the orders need twice the disk of orders, and no more for samples', () => {
    const [one, two] = [plan(), plan({ orders_per_day: 2000 })]
    expect(two.disk.per_day.orders).toBeCloseTo(2 * one.disk.per_day.orders)
    expect(two.disk.per_day.samples).toBe(one.disk.per_day.samples)
    expect(two.disk.per_day.events).toBeGreaterThan(one.disk.per_day.events)
  })
  test('twice the load needs twice of everything', () => {
    const [one, two] = [plan(), plan({ orders_per_day: 2000, samples_per_day: 2_000_000 })]
    expect(two.cores.api.used).toBeCloseTo(2 * one.cores.api.used)
    expect(two.wal.per_day / one.wal.per_day).toBeCloseTo(2)
    expect(two.network.sent_per_day / one.network.sent_per_day).toBeCloseTo(2)
    expect(two.disk.total.total / one.disk.total.total).toBeCloseTo(2)
  })
  test('more webhooks mean more deliveries and work for workers, and change nothing else on disk', () => {
    const [none, one, three] = [plan({ webhooks: 0 }), plan(), plan({ webhooks: 3 })]
    expect(none.per_day.deliveries).toBe(0)
    expect(three.per_day.deliveries).toBe(3 * one.per_day.deliveries)
    expect(three.cores.worker.used).toBeGreaterThan(one.cores.worker.used)
    const { deliveries, total, ...others } = one.disk.per_day
    expect(three.disk.per_day).toMatchObject({ ...others, deliveries: expect.closeTo(3 * deliveries) })
  })
  test('a shorter retention shrinks events and deliveries, and keeps orders, samples and audit rows', () => {
    const [long, short] = [plan().disk.total, plan({ retention_days: 9 }).disk.total]
    expect(short.events).toBeCloseTo(long.events / 10)
    expect(short.deliveries).toBeCloseTo(long.deliveries / 10)
    for (const family of ['orders', 'samples', 'audit'] as const) expect(short[family]).toBe(long[family])
  })
  test('no retention adds days that have not passed', () => {
    expect(plan({ after_days: 30, retention_days: 90 }).disk.total.events).toBeCloseTo(30 * plan().disk.per_day.events)
  })
  test('a busier hour needs more cores, and no more disk', () => {
    const [even, busy] = [plan({ peak_factor: 1 }), plan({ peak_factor: 6 })]
    expect(busy.cores.worker.used).toBeCloseTo(6 * even.cores.worker.used)
    expect(busy.disk).toEqual(even.disk)
  })
  test('larger pushes of the same samples are cheaper', () => {
    const [small, large] = [plan({ samples_per_push: 10 }), plan({ samples_per_push: 240 })]
    expect(large.cores.api.used).toBeLessThan(small.cores.api.used)
    expect(large.disk.total.total).toBeLessThan(small.disk.total.total)
  })
  test('leaves room in the busiest hour', () => {
    const { cores } = plan(largest)
    for (const { used, provide } of Object.values(cores)) expect(provide).toBeGreaterThan(used)
  })
})

describe('deployments', () => {
  test('the embedded PostgreSQL is enough for a small installation', () => {
    const { deployment, connections } = plan({ orders_per_day: 200, samples_per_day: 100_000 })
    expect(deployment).toMatchObject({ name: 'embedded', pooler: false, servers: 1, cores: 2, unsolved: [] })
    // An API process and a worker with ten each.
    expect(connections).toBe(20)
  })
  test('a growing load never goes back to a smaller deployment', () => {
    const names = Array.from({ length: 25 }, (_, i) => {
      const factor = 2 ** (i / 2)
      return plan({ orders_per_day: 100 * factor, samples_per_day: 1_000_000 * factor }).deployment.name
    })
    const order = ['embedded', 'postgres', 'failover', 'citus']
    expect(names.map((name) => order.indexOf(name))).toEqual(names.map((name) => order.indexOf(name)).sort())
    expect(names[0]).toBe('embedded')
    expect(names.at(-1)).toBe('citus')
  })
  test('many reads of few orders need processes and a pooler, and no second server', () => {
    const few = { orders_per_day: 1000, samples_per_day: 0, after_days: 30 }
    expect(plan(few).deployment.name).toBe('embedded')
    expect(plan({ ...few, reads_per_order: 10_000, peak_factor: 24 }).deployment).toMatchObject({ pooler: true, servers: 1 })
  })
  test('a database that takes too long to restore gets two standbys, so that one of them can be down', () => {
    const { deployment, cores } = plan({ orders_per_day: 20_000, samples_per_day: 50_000_000 })
    expect(deployment).toMatchObject({ name: 'failover', servers: 3, cores: 2 })
    expect(cores.database?.provide).toBe(deployment.cores)
  })
  test('a million orders and ten billion samples a day need Citus, whose workers hold the data', () => {
    const { deployment, disk, cores } = plan(largest)
    expect(deployment).toMatchObject({ name: 'citus', pooler: true })
    expect(deployment.servers).toBeGreaterThan(2)
    expect(deployment.servers * deployment.disk).toBeGreaterThan(disk.total.total)
    expect(deployment.disk).toBeLessThanOrEqual(defaults.server_disk_tb * 1e12)
    expect(cores.citus_worker?.provide).toBe(deployment.cores)
    expect(deployment.cores).toBeLessThanOrEqual(defaults.server_cores)
    expect(cores.database).toBeUndefined()
  })
  test('larger servers mean fewer Citus workers', () => {
    const servers = (server_disk_tb: number) => plan({ ...largest, server_disk_tb }).deployment.servers
    expect(servers(4)).toBeGreaterThan(servers(8))
    expect(servers(8)).toBeGreaterThan(servers(16))
  })
  test('says when the largest team does not fit on one Citus worker', () => {
    const names = (largest_team_percent: number) => plan({ ...largest, largest_team_percent }).deployment.unsolved.map(({ name }) => name)
    expect(names(50)).toContain('Citus worker of the largest team')
    expect(names(0.1)).toEqual([])
  })
})

describe('bottlenecks', () => {
  test('come in the order in which a growing load reaches them', () => {
    const { bottlenecks } = plan(largest)
    expect(bottlenecks.map(({ full_at }) => full_at)).toEqual(bottlenecks.map(({ full_at }) => full_at).sort((a, b) => a - b))
  })
  test.each([largest, { orders_per_day: 20_000, samples_per_day: 0 }])('are full at the load that they name: %o', (load) => {
    for (const { name, orders_per_day, samples_per_day } of plan(load).bottlenecks.slice(0, 3)) {
      const reached = plan({ orders_per_day, samples_per_day }).bottlenecks.find((one) => one.name === name)
      expect(reached?.full_at).toBeCloseTo(1)
    }
  })
  test('of a cluster come after those that need one', () => {
    const demand = {
      ...{ service_cores: 1, database_cores: 10, coordinator_cores: 30, shard_cores: 300 },
      ...{ disk: 1e12, wal: 1e6, audit_rows: 1, events: 1 },
    }
    const names = findBottlenecks(demand, { ...defaults, largest_team_percent: 100 }).map(({ name }) => name)
    expect(names.indexOf('CPU of the database server')).toBeLessThan(names.indexOf('CPU of the Citus coordinator'))
    expect(names.indexOf('CPU of the database server')).toBeLessThan(names.indexOf('Citus worker of the largest team'))
  })
})
