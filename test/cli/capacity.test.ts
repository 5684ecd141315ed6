import { expect, test } from 'vitest'
import { assay } from './assay.ts'

// The command uses no database.
const cli = assay('')
const load = ['--orders-per-day', '2,000', '--samples-per-day', '50_000_000']

test('prints what the load needs, its bottlenecks and the deployment', async () => {
  const { code, out, err } = await cli.run('capacity', ...load)
  expect([code, err]).toEqual([0, ''])
  for (const row of [
    'orders',
    'events',
    'deliveries',
    'samples',
    'audit',
    'write-ahead log',
    'network',
    'database connections',
    'API',
    'workers',
  ])
    expect(out).toMatch(new RegExp(`^${row} `, 'm'))
  expect(out.match(/(% of| times) this load/g)).toHaveLength(3)
  expect(out).toMatch(/^Deployment: /m)
})

test('failover means a primary and two standbys, with the cores of the CPU table', async () => {
  const { out } = await cli.run('capacity', '--orders-per-day', '20000', '--samples-per-day', '50000000')
  expect(out).toMatch(/^PostgreSQL +[\d.]+ +2$/m)
  expect(out).toMatch(/^Deployment: a primary and two standbys, 3 PostgreSQL servers with 2 cores and [\d.]+ GB of disk each\.$/m)
  expect(out).toMatch(/^With asynchronous replication, one standby is enough/m)
})

test('the largest load names Citus and its workers', async () => {
  const { out } = await cli.run('capacity', '--orders-per-day', '1000000', '--samples-per-day', '10000000000', '--server-disk-tb', '8')
  expect(out).toMatch(
    /^Deployment: Citus, \d+ workers with \d+ cores and [\d.]+ TB of disk each, and a coordinator with \d+ cores, each with two standbys; PgBouncer in front\.$/m,
  )
})

test('--json has the input, the limits and the deployment', async () => {
  const plan = await cli.json('capacity', ...load, '--webhooks', '2')
  expect(plan.input).toMatchObject({ orders_per_day: 2000, samples_per_day: 50_000_000, webhooks: 2, retention_days: 90 })
  expect(plan.bottlenecks[0]).toMatchObject({
    name: expect.any(String),
    orders_per_day: expect.any(Number),
    takes_over: expect.any(String),
  })
  expect(plan.deployment).toMatchObject({ servers: expect.any(Number), cores: expect.any(Number), disk: expect.any(Number) })
})

test.each([
  [[], /^--orders-per-day is required/],
  [['--orders-per-day', '10'], /^--samples-per-day is required/],
  [['--orders-per-day', '0', '--samples-per-day', '0'], /^--orders-per-day and --samples-per-day are both 0\. Set at least one/],
  [['--orders-per-day', '-5', '--samples-per-day', '0'], /^--orders-per-day needs a value that does not start with a dash/],
  [['--orders-per-day=-5', '--samples-per-day', '0'], /^--orders-per-day must be a whole number from 0 to 1,000,000/],
  [['--orders-per-day', '1e9', '--samples-per-day', '0'], /^--orders-per-day must be a whole number/],
  [['--orders-per-day', '1.5', '--samples-per-day', '0'], /^--orders-per-day must be a whole number/],
  [['--orders-per-day', 'many', '--samples-per-day', '0'], /^--orders-per-day must be a whole number/],
  [['--orders-per-day', '', '--samples-per-day', '0'], /^--orders-per-day must be a whole number/],
  [['--orders-per-day', '1000001', '--samples-per-day', '0'], /^--orders-per-day .* For more, plan several deployments/],
  [['--orders-per-day', '1', '--samples-per-day', '10000000001'], /^--samples-per-day must be a whole number from 0 to 10,000,000,000/],
  [[...load, '--peak-factor', '0'], /^--peak-factor must be a number from 1 to 24\. A whole day in one hour is 24/],
  [[...load, '--peak-factor', '25'], /^--peak-factor must be a number from 1 to 24/],
  [[...load, '--events-per-order', '0'], /^--events-per-order must be a number from 1 to 100\. Placing an order is the first event/],
  [[...load, '--samples-per-push', '0'], /^--samples-per-push must be a number from 1/],
  [[...load, '--retention-days', '0'], /^--retention-days must be a whole number from 1 to 3,650/],
  [[...load, '--server-cores', '0'], /^--server-cores must be a whole number from 1/],
  [[...load, '--server-disk-tb', '0'], /^--server-disk-tb must be a number from 0\.01/],
  [[...load, '--largest-team-percent', '101'], /^--largest-team-percent must be a number from 0\.01 to 100/],
  [[...load, '--order-per-day', '1'], /^Unknown option --order-per-day\. Did you mean --orders-per-day\?/],
])('rejects %j', async (args, message) => {
  const { code, out, err } = await cli.run('capacity', ...args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(message)
})
