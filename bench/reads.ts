import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { query } from '../test/support/databases.ts'
import { machineLines } from './machine.ts'
import { ms, percentile } from './numbers.ts'
import { midnight } from './samples.ts'
import { openSite, type Running, type Site } from './site.ts'

type Options = { users: number; days: number; samples: number; times: number; pooler: number | undefined }

const assay = join(import.meta.dirname, '../bin/assay.mjs')
/** Users in the smaller run. */
export const FEW = 50

/** Compares reads with few users and with many users that have a month of data. */
export async function benchReads(options: Options) {
  const { machine, few, many } = await measureReads(options)
  for (const line of machine) console.log(line)
  const counts = `${FEW} and ${options.users.toLocaleString('en')} users of ${options.days} days with ${options.samples} samples each`
  console.log(`p50 and p95 of ${options.times} reads, of random users, one at a time, with ${counts}`)
  for (const [name, latencies] of Object.entries(few)) console.log(`  ${name}: ${compareLatencies(latencies, many[name] as number[])}`)
}

/** The latencies of each read, with few users and with many. */
export async function measureReads(options: Options) {
  const site = await openSite(8, options)
  try {
    await site.create('read')
    const few = await measureWith(site, options, FEW)
    const many = await measureWith(site, options, options.users)
    return { machine: await machineLines(site.urlOf('read')), few, many }
  } finally {
    await site.close()
  }
}

const compareLatencies = (few: number[], many: number[]) =>
  [50, 95]
    .map((percent) => {
      const [before, after] = [percentile(few, percent), percentile(many, percent)]
      return `p${percent} ${ms(before)}, ${ms(after)}, factor ${(after / before).toFixed(1)}`
    })
    .join('; ')

async function measureWith(site: Site, options: Options, users: number) {
  const running = await site.serve('read')
  await seedUsers(site, options, users)
  const times = await measureLatencies(running, options)
  await running.stop()
  return times
}

/** Seeds with the same command as an operator. */
async function seedUsers(site: Site, { days, samples }: Options, users: number) {
  const sizes = Object.entries({ users, days, samples }).flatMap(([name, size]) => [`--${name}`, String(size)])
  const env = { ...process.env, DATA_DIR: site.dataDir, DATABASE_URL: site.urlOf('read'), ENCRYPTION_KEY: site.encryptionKey }
  const startedAt = performance.now()
  const [code] = await once(spawn(process.execPath, [assay, 'seed', 'wearables', ...sizes], { env, stdio: 'inherit' }), 'close')
  if (code !== 0) throw new Error(`assay seed wearables exited with code ${code}`)
  console.log(`  in ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`)
}

async function measureLatencies(running: Running, { days, times }: Options) {
  const users = await query<{ user_id: string }>(running.database, 'select user_id from users order by random() limit $1', [times])
  const date = (ago: number) => new Date(midnight(ago)).toISOString().slice(0, 10)
  const day = `start_date=${date(2)}&end_date=${date(2)}`
  const reads: Record<string, (id: string) => string> = {
    'A day of heart rate': (id) => `/v2/timeseries/${id}/heartrate/grouped?${day}`,
    'All days of glucose': (id) => `/v2/timeseries/${id}/glucose/grouped?start_date=${date(days)}&end_date=${date(1)}`,
    'The resources of a user': (id) => `/v2/introspect/resources?user_id=${id}`,
    'A user': (id) => `/v2/user/${id}`,
    'A page of users': () => '/v2/user?limit=50',
  }
  const latencies: Record<string, number[]> = {}
  for (const [name, path] of Object.entries(reads)) {
    const requests = users.map(({ user_id }) => ({ method: 'GET', path: path(user_id) }))
    // Warms up the process.
    await running.load({ connections: 1, times: FEW, requests: requests.slice(-FEW) })
    latencies[name] = (await running.load({ connections: 1, times, requests })).latencies
  }
  return latencies
}
