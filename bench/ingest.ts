import { query } from '../test/support/databases.ts'
import { copyIn } from './copy-in.ts'
import { cpuOf } from './cpu.ts'
import { machineLines } from './machine.ts'
import { ms, percentile, perSecond } from './numbers.ts'
import { bodyOf, type HeartRate, heartRates, midnight } from './samples.ts'
import { openSite, type Running, type Site } from './site.ts'

type Options = { users: number; perDay: number; connections: number; reads: number; yearly: number; pooler: number | undefined }
type Bench = { site: Site; running: Running; options: Options }

const DAY = 86_400_000
const RESOURCE = 'heartrate'

/** Measures and prints; it does not assert any number. */
export async function benchIngest(options: Options) {
  const site = await openSite(options.connections + 4, options)
  try {
    await site.create('ingested')
    const running = await site.serve('ingested')
    const bench = { site, running, options }
    for (const line of await machineLines(running.database)) console.log(line)
    console.log('one service process, one sender process; every batch is one transaction, including its events\n')
    const users = await createUsers(bench, options.users)
    const days = users.map((user, i) => ({ user, rates: ratesOf(options, i, 2) }))
    await benchDays(bench, days)
    await benchHours(bench, users)
    await benchReads(bench, users)
    await benchErase(bench)
    await benchCopy(bench, days)
    await running.stop()
  } finally {
    await site.close()
  }
}

const ratesOf = ({ perDay }: Options, seed: number, daysAgo: number) =>
  heartRates(seed, midnight(daysAgo), perDay, Math.floor(DAY / perDay))

async function call<T>({ running }: Bench, method: string, path: string, body?: unknown): Promise<T> {
  const headers = { ...running.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const response = await fetch(running.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`)
  return response.json() as Promise<T>
}

const createUsers = (bench: Bench, count: number) =>
  Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const { user_id } = await call<{ user_id: string }>(bench, 'POST', '/v2/user', { client_user_id: `bench-${Date.now()}-${i}` })
      await call(bench, 'POST', `/v2/timeseries/${user_id}/${RESOURCE}`, { provider: 'garmin', data: [] })
      return user_id
    }),
  )

type UserDay = { user: string; rates: HeartRate[] }

const pushOf = (user: string, rates: HeartRate[]) => ({ method: 'POST', path: `/v2/timeseries/${user}/${RESOURCE}`, body: bodyOf(rates) })

/** Sends each request once and prints the rate of samples. */
async function sendBatches({ site, running, options }: Bench, title: string, batches: UserDay[]) {
  const samples = batches.reduce((sum, { rates }) => sum + rates.length, 0)
  const before = { service: cpuOf(running.pid), server: cpuOf(site.postmaster) }
  const { seconds, latencies } = await running.load({
    connections: options.connections,
    times: batches.length,
    requests: batches.map(({ user, rates }) => pushOf(user, rates)),
  })
  const perSample = (after: number, before: number) => `${(((after - before) * 1000) / samples).toFixed(2)} µs`
  console.log(`${title}: ${batches.length} batches of ${batches[0]?.rates.length}, ${options.connections} at a time`)
  console.log(
    `  ${perSecond(samples / seconds)} samples over HTTP, a batch p50 ${ms(percentile(latencies, 50))}, p99 ${ms(percentile(latencies, 99))}`,
  )
  console.log(
    `  CPU time per sample: ${perSample(cpuOf(running.pid), before.service)} of the service, ${perSample(cpuOf(site.postmaster), before.server)} of PostgreSQL`,
  )
}

async function benchDays(bench: Bench, days: UserDay[]) {
  await warmUp(bench, days)
  await sendBatches(bench, 'user-days', days)
  await printSizes(bench, 'user-days')
  await sendBatches(bench, 'the same user-days again, which changes nothing', days)
}

/** Warms up the process with other days and then deletes them. */
async function warmUp({ running, options }: Bench, days: UserDay[]) {
  const requests = days.slice(0, 8).map(({ user }, i) => pushOf(user, ratesOf(options, i, 30)))
  await running.load({ connections: options.connections, times: requests.length * 3, requests })
  await query(running.database, 'delete from sample_days')
  await query(running.database, 'vacuum full sample_days')
}

/** Sends a day hour by hour, so each batch merges into the stored day. */
async function benchHours(bench: Bench, users: string[]) {
  const hours = users.slice(0, Math.ceil(users.length / 4)).flatMap((user, i) => {
    const rates = ratesOf(bench.options, 1000 + i, 1)
    const each = Math.ceil(rates.length / 24)
    return Array.from({ length: 24 }, (_, hour) => ({ user, hour, rates: rates.slice(hour * each, (hour + 1) * each) }))
  })
  await sendBatches(
    bench,
    'hourly merges',
    hours.toSorted((a, b) => a.hour - b.hour).filter(({ rates }) => rates.length),
  )
}

async function printSizes({ running }: Bench, title: string) {
  const [row] = await query<{ bytes: string; sealed: string; samples: string }>(
    running.database,
    "select pg_total_relation_size('sample_days') as bytes, sum(octet_length(sealed)) as sealed, sum(samples) as samples from sample_days",
  )
  const each = (bytes: string | undefined) => (Number(bytes) / Number(row?.samples)).toFixed(2)
  console.log(`  ${title}: ${each(row?.bytes)} bytes per stored sample with rows and indexes, ${each(row?.sealed)} of them encrypted\n`)
}

async function benchReads({ running, options }: Bench, users: string[]) {
  const day = new Date(midnight(2)).toISOString().slice(0, 10)
  const paths = users.map((user) => `/v2/timeseries/${user}/${RESOURCE}/grouped?start_date=${day}&end_date=${day}`)
  const { latencies } = await running.load({
    connections: 1,
    times: options.reads,
    requests: paths.map((path) => ({ method: 'GET', path })),
  })
  console.log(
    `reading a user-day of ${options.perDay} samples: p50 ${ms(percentile(latencies, 50))}, p95 ${ms(percentile(latencies, 95))}, p99 ${ms(percentile(latencies, 99))}\n`,
  )
}

/** Erases a user with a year of data. Moving the sandbox clock returns after the erasure. */
async function benchErase(bench: Bench) {
  const { yearly } = bench.options
  const [user = ''] = await createUsers(bench, 1)
  const rates = Array.from({ length: 365 }, (_, day) => heartRates(day, midnight(day + 1), yearly, Math.floor(DAY / yearly))).flat()
  for (let i = 0; i < rates.length; i += 50_000)
    await call(bench, 'POST', `/v2/timeseries/${user}/${RESOURCE}`, JSON.parse(bodyOf(rates.slice(i, i + 50_000), { stage: 'historical' })))
  await call(bench, 'DELETE', `/v2/user/${user}`)
  const startedAt = performance.now()
  await call(bench, 'POST', '/sandbox/clock', { advance_seconds: 8 * 86_400 })
  console.log(`erasing a user with a year of data, ${rates.length} samples in 365 days: ${ms(performance.now() - startedAt)}`)
  await call(bench, 'POST', '/sandbox/clock/reset')
  const [row] = await query(bench.running.database, 'select count(*) as left from sample_days where user_id = $1', [user])
  console.log(`  days left: ${row?.['left']}\n`)
}

/** Loads the same samples with one row each by COPY, for comparison. */
async function benchCopy({ running }: Bench, days: UserDay[]) {
  const { database } = running
  await query(
    database,
    `create table plain_samples (user_id uuid, resource text, provider text, source_type text, at timestamptz, value double precision,
     zone integer, version bigint, primary key (user_id, resource, provider, source_type, at))`,
  )
  const now = Date.now()
  const line =
    (user: string) =>
    ({ at, value }: HeartRate) =>
      `${user},${RESOURCE},garmin,watch,${new Date(at).toISOString()},${value},3600,${now}\n`
  const lines = days.map(({ user, rates }) => Buffer.from(rates.map(line(user)).join('')))
  const startedAt = performance.now()
  await copyIn(database, 'copy plain_samples from stdin csv', lines)
  const seconds = (performance.now() - startedAt) / 1000
  const samples = days.reduce((sum, { rates }) => sum + rates.length, 0)
  const [row] = await query<{ bytes: string }>(database, "select pg_total_relation_size('plain_samples') as bytes")
  console.log(
    `COPY of the user-days with one row per sample: ${perSecond(samples / seconds)}, ${(Number(row?.bytes) / samples).toFixed(0)} bytes each`,
  )
}
