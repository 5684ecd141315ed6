import { pgbouncer } from '../test/support/pooler.ts'
import { cpuOf } from './cpu.ts'
import { measureLists, printLists } from './lists.ts'
import type { LoadReport } from './load.ts'
import { machineLines } from './machine.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import { createPatients, orderRequests, patientsIn } from './patients.ts'
import { copyUsers, pgbenchRate, pgbenchVersion, scriptFromOrder } from './pgbench.ts'
import type { Running } from './site.ts'
import { waitUntilDispatched } from './usage.ts'
import { inTurn, type Version, withVersions } from './versions.ts'

type Options = { seconds: number; rounds: number; connections: number; pooler: number | undefined; baseline: string | undefined }

const USERS = 1000
/** Orders in the small table of the lists. */
const FEW = 10_000
/** Users that a round creates for each of its seconds. */
const USERS_PER_SECOND = 500
const HELD = { activate_by: '2099-01-01' }

/** Measures and prints; it does not assert any number. */
export const benchOrders = (options: Options & { most: number }) =>
  withOrders(options, async (versions) => {
    for (const line of await machineLines((versions[0] as Version).site.urlOf('placed'))) console.log(line)
    const pooled = options.pooler === undefined ? '' : `, ${options.pooler} connections of ${pgbouncer?.version}`
    console.log(`${options.connections} connections${pooled}, ${options.rounds} rounds of ${options.seconds} s per variant, medians\n`)
    printPlacing(versions, await measurePlacing(versions, options))
    const sizes = [FEW, options.most]
    printLists(versions, sizes, await measureLists(versions, sizes, options.rounds))
  })

/** Opens the versions with the databases that `measurePlacing` and `measureLists` need. */
export const withOrders = <T>(options: Options, work: (versions: Version[]) => Promise<T>) =>
  withVersions(options, async (versions) => {
    for (const version of versions) await createDatabases(version, options)
    return work(versions)
  })

/** Creates a database in which every user has an order, and copies it for pgbench and for the lists. */
async function createDatabases({ site, waitUntilIdle }: Version, { connections }: Options) {
  await site.create('placed')
  const running = await site.serve('placed')
  await createPatients(running, USERS, connections)
  const patients = await patientsIn(running.database)
  await running.load({ connections, times: USERS, requests: await orderRequests(running, patients, HELD) })
  await waitUntilIdle(running.database)
  await running.stop()
  for (const name of ['pgbench', 'listed']) await site.create(name, 'placed')
  await copyUsers(site.urlOf('pgbench'), USERS)
}

type Series = 'rates' | 'sustained' | 'latencies' | 'serviceMs' | 'serverMs' | 'poolerMs'
/**
 * One kind of write, with its measurements by round. The sustained rate ends when every order is dispatched, and the CPU time of a
 * write when everything that follows is done.
 */
export type Variant = { name: string } & Record<Series, number[]>
export type Placing = { held: Variant; immediate: Variant; users: Variant }
/** The variants of each version, and of pgbench on the server of the first. */
type Placings = { placings: Placing[]; pgbench: Variant | undefined }
type Round = Pick<LoadReport, 'succeeded' | 'seconds'> & Partial<LoadReport>

const newVariant = (name: string): Variant => ({
  name,
  rates: [],
  sustained: [],
  latencies: [],
  serviceMs: [],
  serverMs: [],
  poolerMs: [],
})

export async function measurePlacing(versions: Version[], options: Options): Promise<Placings> {
  const served: Served[] = []
  for (const version of versions) served.push(await serve(version, options))
  const [first] = served as [Served, ...Served[]]
  const pgbenchName = pgbenchVersion()
  const pgbench = pgbenchName ? newVariant(`${pgbenchName}, the same statement`) : undefined
  const runPgbench = await pgbenchRounds(first, options)
  const turns = [
    ...served.map((one) => () => measure(one, one.placing.held, one.placeHeld)),
    ...(pgbench ? [() => measure(first, pgbench, runPgbench)] : []),
    ...served.map((one) => () => measure(one, one.placing.immediate, one.placeImmediate)),
    ...served.map((one) => () => measure(one, one.placing.users, one.createUsers)),
  ]
  await inTurn(turns, options.rounds, (turn) => turn())
  for (const { running } of served) await running.stop()
  return { placings: served.map(({ placing }) => placing), pgbench }
}

type Served = Awaited<ReturnType<typeof serve>>

/** Starts a version and warms it up. */
async function serve(version: Version, { seconds, connections }: Options) {
  const running = await version.site.serve('placed')
  const patients = await patientsIn(running.database)
  const held = await orderRequests(running, patients, HELD)
  const immediate = await orderRequests(running, patients)
  let created = USERS
  const createUsers = (): Promise<Round> => {
    const first = created
    created += seconds * USERS_PER_SECOND
    return createPatients(running, created - first, connections, first)
  }
  await running.load({ connections, seconds: Math.min(seconds, 3), requests: held })
  return {
    version,
    running,
    placing: {
      held: newVariant('POST /v3/order, held until a later day'),
      immediate: newVariant('POST /v3/order, sent to the lab immediately'),
      users: newVariant('POST /v2/user'),
    },
    placeHeld: (): Promise<Round> => running.load({ connections, seconds, requests: held }),
    placeImmediate: (): Promise<Round> => running.load({ connections, seconds, requests: immediate }),
    createUsers,
  }
}

async function pgbenchRounds({ version: { site }, running }: Served, { seconds, connections }: Options) {
  const script = await scriptFromOrder(running.database, USERS)
  return async (): Promise<Round> => {
    const rate = await pgbenchRate({ url: site.urlOf('pgbench'), connections, seconds, folder: site.dataDir }, script)
    return { succeeded: rate * seconds, seconds }
  }
}

async function measure({ version: { site, waitUntilIdle }, running }: Served, variant: Variant, work: () => Promise<Round>) {
  const before = cpuTimes(site, running)
  const { succeeded, seconds, latencies = [] } = await work()
  const placedAt = performance.now()
  await waitUntilDispatched(running.database)
  variant.rates.push(succeeded / seconds)
  variant.sustained.push(succeeded / (seconds + (performance.now() - placedAt) / 1000))
  await waitUntilIdle(running.database)
  const after = cpuTimes(site, running)
  variant.latencies.push(...latencies)
  for (const name of ['serviceMs', 'serverMs', 'poolerMs'] as const) variant[name].push((after[name] - before[name]) / succeeded)
}

const cpuTimes = ({ postmaster, pooler }: Version['site'], { pid }: Running) => ({
  serviceMs: cpuOf(pid),
  serverMs: cpuOf(postmaster),
  poolerMs: pooler ? cpuOf(pooler) : 0,
})

function printPlacing(versions: Version[], { placings, pgbench }: Placings) {
  if (pgbench) printVariant(pgbench)
  else console.log('pgbench is not installed, so there is no comparison')
  placings.forEach(({ held, immediate, users }, i) => {
    console.log(`\n${versions[i]?.name}`)
    for (const variant of [held, immediate, users]) printVariant(variant)
    console.log(`sent to the lab immediately, sustained: ${perSecond(median(immediate.sustained))} placed and dispatched`)
    const ratio = (rates: number[]) => (median(rates) / median(pgbench?.rates ?? [])).toFixed(2)
    if (pgbench) console.log(`ratio to pgbench: ${ratio(held.rates)} held, ${ratio(immediate.sustained)} sent to the lab, sustained`)
  })
}

function printVariant({ name, rates, latencies, serviceMs, serverMs, poolerMs }: Variant) {
  console.log(`${name}: ${perSecond(median(rates))} (${rates.map(Math.round).join(' ')})`)
  if (latencies.length) console.log(`  p50 ${ms(percentile(latencies, 50))}, p99 ${ms(percentile(latencies, 99))}`)
  const each = (times: number[]) => `${median(times).toFixed(2)} ms (${times.map((time) => time.toFixed(2)).join(' ')})`
  const service = latencies.length ? `${each(serviceMs)} of the service, ` : ''
  const pooler = median(poolerMs) ? `, ${each(poolerMs)} of PgBouncer` : ''
  console.log(`  CPU time each, with all that follows: ${service}${each(serverMs)} of PostgreSQL${pooler}`)
}
