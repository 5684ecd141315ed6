import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../test/support/databases.ts'
import { type Deployment, openDeployment } from './deployment.ts'
import { machineLines } from './machine.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import { newPusher, type Pusher } from './pushes.ts'

type Options = { seconds: number; rounds: number; burst: number; idleSeconds: number; singles: number; baseline: string | undefined }
type Subject = { name: string; deployment: Deployment; pusher: Pusher; results: Record<string, number[]> }

export const RATE = 200
const WARM_UP_SECONDS = 5

/** Measures and prints; it does not assert any number. Compares with the checkout of a baseline in the same run, in turn. */
export async function benchCalm(options: Options) {
  const checkouts = [['baseline', options.baseline] as const, ['this version', undefined] as const].slice(options.baseline ? 0 : 1)
  const subjects: Subject[] = []
  try {
    for (const [name, checkout] of checkouts) subjects.push(await openSubject(name, checkout))
    for (const line of await machineLines((subjects[0] as Subject).deployment.database)) console.log(line)
    console.log('the default deployment with its own PostgreSQL; this process pushes 5 samples per event, another receives and verifies\n')
    await measureSubjects(subjects, options)
    for (const subject of subjects) print(subject, options)
  } finally {
    for (const { deployment } of subjects) await deployment.close()
  }
}

/** Adds every measurement to the results of each subject. */
export async function measureSubjects(subjects: Subject[], options: Omit<Options, 'baseline'>) {
  for (const { pusher } of subjects) await pusher.pushAtRate(RATE, WARM_UP_SECONDS)
  await inTurn(subjects, options.rounds, (subject) => measureCalm(subject, options.seconds))
  await inTurn(subjects, options.burst ? options.rounds : 0, (subject) => measureBurst(subject, options.burst))
  await sleep(2000)
  await Promise.all(subjects.map((subject) => measureIdle(subject, options.idleSeconds)))
  await inTurn(subjects, options.singles, measureSingle)
}

export async function openSubject(name: string, checkout: string | undefined): Promise<Subject> {
  const deployment = await openDeployment(checkout)
  return { name, deployment, pusher: await newPusher(deployment), results: {} }
}

async function inTurn(subjects: Subject[], rounds: number, measure: (subject: Subject) => Promise<Record<string, number>>) {
  for (let round = 0; round < rounds; round++)
    for (const subject of round % 2 ? subjects.toReversed() : subjects) record(subject, await measure(subject))
}

function record({ results }: Subject, measured: Record<string, number>) {
  for (const [name, value] of Object.entries(measured)) results[name] = [...(results[name] ?? []), value]
}

/** What the deployment used while `work` ran and until everything was delivered. */
async function usageOf<T>({ deployment }: Subject, work: () => Promise<T>) {
  const before = { ...deployment.cpu(), ...(await counters(deployment.database)) }
  const result = await work()
  const after = { ...deployment.cpu(), ...(await counters(deployment.database)) }
  const used = Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - before[name as keyof typeof before]]))
  return { result, used: used as typeof before }
}

/** PostgreSQL reports its counters with a delay of up to a second. */
async function counters(database: string) {
  await sleep(1500)
  const [row] = await query<{ commits: string; syncs: string }>(
    database,
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
     (select sum(fsyncs) from pg_stat_io where object = 'wal') as syncs`,
  )
  return { commits: Number(row?.commits), syncs: Number(row?.syncs) }
}

async function measureCalm(subject: Subject, seconds: number) {
  const { used, result } = await usageOf(subject, () => subject.pusher.pushAtRate(RATE, seconds))
  const { requests, deliveries } = result
  return {
    'calm service': used.service / requests.length,
    'calm database': used.database / requests.length,
    'calm commits': used.commits / requests.length,
    'calm syncs': used.syncs / requests.length,
    'calm request p50': percentile(requests, 50),
    'calm request p99': percentile(requests, 99),
    'calm receipt p50': percentile(deliveries, 50),
    'calm receipt p99': percentile(deliveries, 99),
  }
}

async function measureBurst(subject: Subject, count: number) {
  const { used, result } = await usageOf(subject, () => subject.pusher.pushBurst(count, 16))
  const memory = subject.deployment.memory()
  return {
    'burst memory service': memory.service,
    'burst memory database': memory.database,
    'burst rate': (count * 1000) / result.ms,
    'burst service': used.service / count,
    'burst database': used.database / count,
    'burst commits': used.commits / count,
    'burst syncs': used.syncs / count,
  }
}

async function measureIdle(subject: Subject, seconds: number) {
  const before = subject.deployment.cpu()
  await sleep(seconds * 1000)
  const after = subject.deployment.cpu()
  const percent = (used: number) => used / seconds / 10
  record(subject, { 'idle service': percent(after.service - before.service), 'idle database': percent(after.database - before.database) })
}

async function measureSingle({ pusher }: Subject) {
  await sleep(1000)
  const { deliveries, requests } = await pusher.pushAtRate(1, 1)
  return { 'single request': requests[0] as number, 'single receipt': deliveries[0] as number }
}

function print({ name, results }: Subject, { seconds, rounds, burst, idleSeconds, singles }: Options) {
  const of = (key: string) => median(results[key] ?? [])
  const all = (key: string) => (results[key] ?? []).map((value) => value.toFixed(2)).join(' ')
  console.log(`${name}`)
  console.log(`  ${RATE} events/s for ${rounds} x ${seconds} s:`)
  console.log(
    `    CPU seconds per 1,000 events: ${(of('calm service') + of('calm database')).toFixed(2)}: service ${of('calm service').toFixed(2)} (${all('calm service')}), PostgreSQL ${of('calm database').toFixed(2)} (${all('calm database')})`,
  )
  console.log(
    `    request p50 ${ms(of('calm request p50'))}, p99 ${ms(of('calm request p99'))}; response to receipt p50 ${ms(of('calm receipt p50'))}, p99 ${ms(of('calm receipt p99'))}`,
  )
  console.log(`    per event: ${of('calm commits').toFixed(2)} transactions, ${of('calm syncs').toFixed(2)} WAL syncs`)
  if (burst)
    console.log(
      `  burst of ${burst}, 16 connections: ${perSecond(of('burst rate'))} accepted and delivered (${all('burst rate')}); per event CPU ${of('burst service').toFixed(2)} ms of the service, ${of('burst database').toFixed(2)} ms of PostgreSQL, ${of('burst commits').toFixed(2)} transactions, ${of('burst syncs').toFixed(2)} WAL syncs`,
    )
  console.log(
    `  idle for ${idleSeconds} s: ${of('idle service').toFixed(2)} % of a core for the service, ${of('idle database').toFixed(2)} % for PostgreSQL`,
  )
  console.log(
    `  ${singles} single events on an idle service: request p50 ${ms(of('single request'))}, response to receipt p50 ${ms(of('single receipt'))} (${all('single receipt')})\n`,
  )
}
