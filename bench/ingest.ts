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
const PER_MINUTE = 1440

/** Measures and prints; it does not assert any number. */
export async function benchIngest(options: Options) {
  const { machine, days, again, hours, sizes, reads, erasure, copy } = await measureIngest(options)
  for (const line of machine) console.log(line)
  console.log('one service process, one sender process; every batch is one transaction, including its events\n')
  printBatches('user-days', days)
  console.log(`  ${sizes.table.toFixed(2)} bytes per stored sample with rows and indexes, ${sizes.sealed.toFixed(2)} of them encrypted\n`)
  printBatches('the same user-days again, which changes nothing', again)
  printBatches('hourly merges', hours)
  for (const { samples, latencies } of reads)
    console.log(
      `reading a user-day of ${samples} samples: ${[50, 95, 99].map((percent) => `p${percent} ${ms(percentile(latencies, percent))}`).join(', ')}\n`,
    )
  console.log(`erasing a user with a year of data, ${erasure.samples} samples in 365 days: ${ms(erasure.ms)}`)
  console.log(`  days left: ${erasure.daysLeft}\n`)
  console.log(`COPY of the user-days with one row per sample: ${perSecond(copy.rate)}, ${copy.bytes.toFixed(0)} bytes each`)
}

export async function measureIngest(options: Options) {
  const site = await openSite(options.connections + 4, options)
  try {
    await site.create('ingested')
    const running = await site.serve('ingested')
    const bench = { site, running, options }
    const machine = await machineLines(running.database)
    const users = await createUsers(bench, options.users)
    const userDays = users.map((user, i) => ({ user, rates: ratesOf(options, i, 2) }))
    await warmUp(bench, userDays)
    const days = await sendBatches(bench, userDays)
    const sizes = await readSizes(bench)
    const again = await sendBatches(bench, userDays)
    const hours = await sendBatches(bench, hourlyBatches(bench, users))
    const reads = await measureReads(bench, users)
    const erasure = await measureErasure(bench)
    const copy = await measureCopy(bench, userDays)
    await running.stop()
    return { machine, days, again, hours, sizes, reads, erasure, copy }
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

/** Rates are samples per second, and CPU times are in microseconds per sample. */
type Batches = { count: number; size: number; connections: number; rate: number; latencies: number[]; serviceUs: number; serverUs: number }

/** Sends each request once. */
async function sendBatches({ site, running, options }: Bench, batches: UserDay[]): Promise<Batches> {
  const samples = batches.reduce((sum, { rates }) => sum + rates.length, 0)
  const before = { service: cpuOf(running.pid), server: cpuOf(site.postmaster) }
  const { seconds, latencies } = await running.load({
    connections: options.connections,
    times: batches.length,
    requests: batches.map(({ user, rates }) => pushOf(user, rates)),
  })
  const perSample = (after: number, before: number) => ((after - before) * 1000) / samples
  return {
    count: batches.length,
    size: batches[0]?.rates.length ?? 0,
    connections: options.connections,
    rate: samples / seconds,
    latencies,
    serviceUs: perSample(cpuOf(running.pid), before.service),
    serverUs: perSample(cpuOf(site.postmaster), before.server),
  }
}

function printBatches(title: string, { count, size, connections, rate, latencies, serviceUs, serverUs }: Batches) {
  console.log(`${title}: ${count} batches of ${size}, ${connections} at a time`)
  console.log(`  ${perSecond(rate)} samples over HTTP, a batch p50 ${ms(percentile(latencies, 50))}, p99 ${ms(percentile(latencies, 99))}`)
  console.log(`  CPU time per sample: ${serviceUs.toFixed(2)} µs of the service, ${serverUs.toFixed(2)} µs of PostgreSQL`)
}

/** Warms up the process with other days and then deletes them. */
async function warmUp({ running, options }: Bench, days: UserDay[]) {
  const requests = days.slice(0, 8).map(({ user }, i) => pushOf(user, ratesOf(options, i, 30)))
  await running.load({ connections: options.connections, times: requests.length * 3, requests })
  await query(running.database, 'delete from sample_days')
  await query(running.database, 'vacuum full sample_days')
}

/** A day hour by hour, so each batch merges into the stored day. */
function hourlyBatches(bench: Bench, users: string[]) {
  const hours = users.slice(0, Math.ceil(users.length / 4)).flatMap((user, i) => {
    const rates = ratesOf(bench.options, 1000 + i, 1)
    const each = Math.ceil(rates.length / 24)
    return Array.from({ length: 24 }, (_, hour) => ({ user, hour, rates: rates.slice(hour * each, (hour + 1) * each) }))
  })
  return hours.toSorted((a, b) => a.hour - b.hour).filter(({ rates }) => rates.length)
}

/** Bytes per stored sample: with rows and indexes, and the encrypted part. */
async function readSizes({ running }: Bench) {
  const [row] = await query<{ bytes: string; sealed: string; samples: string }>(
    running.database,
    "select pg_total_relation_size('sample_days') as bytes, sum(octet_length(sealed)) as sealed, sum(samples) as samples from sample_days",
  )
  const each = (bytes: string | undefined) => Number(bytes) / Number(row?.samples)
  return { table: each(row?.bytes), sealed: each(row?.sealed) }
}

/** Reads user-days with a sample per minute and with all samples, one at a time. */
async function measureReads(bench: Bench, users: string[]) {
  const { running, options } = bench
  const minutes = users.map((user, i) => pushOf(user, ratesOf({ ...options, perDay: PER_MINUTE }, i, 3)))
  await running.load({ connections: options.connections, times: minutes.length, requests: minutes })
  const measured: { samples: number; latencies: number[] }[] = []
  for (const [samples, daysAgo] of [[PER_MINUTE, 3] as const, [options.perDay, 2] as const]) {
    const day = new Date(midnight(daysAgo)).toISOString().slice(0, 10)
    const path = (user: string) => `/v2/timeseries/${user}/${RESOURCE}/grouped?start_date=${day}&end_date=${day}`
    const requests = users.map((user) => ({ method: 'GET', path: path(user) }))
    // Warms up the process.
    await running.load({ connections: 1, times: options.reads, requests })
    measured.push({ samples, latencies: (await running.load({ connections: 1, times: options.reads, requests })).latencies })
  }
  return measured
}

/** Erases a user with a year of data. Moving the sandbox clock returns after the erasure. */
async function measureErasure(bench: Bench) {
  const { yearly } = bench.options
  const [user = ''] = await createUsers(bench, 1)
  const rates = Array.from({ length: 365 }, (_, day) => heartRates(day, midnight(day + 1), yearly, Math.floor(DAY / yearly))).flat()
  for (let i = 0; i < rates.length; i += 50_000)
    await call(bench, 'POST', `/v2/timeseries/${user}/${RESOURCE}`, JSON.parse(bodyOf(rates.slice(i, i + 50_000), { stage: 'historical' })))
  await call(bench, 'DELETE', `/v2/user/${user}`)
  const startedAt = performance.now()
  await call(bench, 'POST', '/sandbox/clock', { advance_seconds: 8 * 86_400 })
  const elapsedMs = performance.now() - startedAt
  await call(bench, 'POST', '/sandbox/clock/reset')
  const [row] = await query(bench.running.database, 'select count(*) as left from sample_days where user_id = $1', [user])
  return { samples: rates.length, ms: elapsedMs, daysLeft: Number(row?.['left']) }
}

/** Loads the same samples with one row each by COPY, for comparison. */
async function measureCopy({ running }: Bench, days: UserDay[]) {
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
  return { rate: samples / seconds, bytes: Number(row?.bytes) / samples }
}
