import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../test/support/databases.ts'
import { type Deployment, openDeployment } from './deployment.ts'
import { machineLines } from './machine.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import { newPusher, type Pusher } from './pushes.ts'
import { inTurn } from './versions.ts'

type Options = { seconds: number; rounds: number; burst: number; idleSeconds: number; singles: number; baseline: string | undefined }
export type Subject = { name: string; deployment: Deployment; pusher: Pusher; results: Record<string, number[]> }

export const RATE = 200
const WARM_UP_SECONDS = 15

/** Measures and prints; it does not assert any number. */
export const benchCalm = (options: Options) =>
  withSubjects(options.baseline, async (subjects) => {
    for (const line of await machineLines((subjects[0] as Subject).deployment.database)) console.log(line)
    console.log('the default deployment with its own PostgreSQL; this process pushes 5 samples per event, another receives and verifies\n')
    await measureSubjects(subjects, options)
    for (const subject of subjects) print(subject, options)
    console.log(`load ${loadavg()[0]?.toFixed(1)}`)
  })

/** Opens this version first, and then the checkout of another one to compare with. */
export async function withSubjects<T>(baseline: string | undefined, work: (subjects: Subject[]) => Promise<T>) {
  const subjects: Subject[] = []
  try {
    subjects.push(await openSubject('this version'))
    if (baseline) subjects.push(await openSubject('baseline', baseline))
    return await work(subjects)
  } finally {
    for (const { deployment, pusher } of subjects) {
      pusher.close()
      await deployment.close()
    }
  }
}

/** Adds every measurement to the results of each subject. */
export async function measureSubjects(subjects: Subject[], options: Omit<Options, 'baseline'>) {
  // A service returns memory to the system within half a minute of its start.
  await sleep(options.idleSeconds * 1000)
  for (const subject of subjects) record(subject, memoryOf('idle', subject))
  for (const { pusher } of subjects) await pusher.pushAtRate(RATE, WARM_UP_SECONDS)
  await inTurn(subjects, options.rounds, async (subject) => record(subject, await measureCalm(subject, options.seconds)))
  await inTurn(subjects, options.rounds, async (subject) => record(subject, await measureBurst(subject, options.burst)))
  // After work, a process collects garbage and PostgreSQL cleans its tables.
  await sleep(2 * options.idleSeconds * 1000)
  await Promise.all(subjects.map((subject) => measureIdle(subject, options.idleSeconds)))
  await inTurn(subjects, options.singles, async (subject) => record(subject, await measureSingle(subject)))
}

async function openSubject(name: string, checkout?: string): Promise<Subject> {
  const deployment = await openDeployment(checkout)
  return { name, deployment, pusher: await newPusher(deployment), results: {} }
}

function record({ results }: Subject, measured: Record<string, number>) {
  for (const [name, value] of Object.entries(measured)) results[name] = [...(results[name] ?? []), value]
}

/** The CPU time in milliseconds, transactions and syncs of the write-ahead log per event, until every message has arrived. */
async function usagePerEvent<T>(prefix: string, { deployment }: Subject, count: number, work: () => Promise<T>) {
  const before = await usageOf(deployment)
  const result = await work()
  const after = await usageOf(deployment)
  const used = Object.entries(after).map(([name, value]) => [`${prefix} ${name}`, (value - before[name as keyof typeof before]) / count])
  return { result, used: Object.fromEntries(used) as Record<string, number> }
}

/** PostgreSQL reports its counters with a delay of up to a second. Syncs are counted since version 18. */
async function usageOf({ cpu, database }: Deployment) {
  await sleep(1500)
  const [row] = await query<{ commits: string; syncs: string }>(
    database,
    `select (select xact_commit from pg_stat_database where datname = current_database()) as commits,
     (select sum(fsyncs) from pg_stat_io where object = 'wal') as syncs`,
  )
  return { ...cpu(), commits: Number(row?.commits), syncs: Number(row?.syncs) }
}

async function measureCalm(subject: Subject, seconds: number) {
  const { used, result } = await usagePerEvent('calm', subject, RATE * seconds, () => subject.pusher.pushAtRate(RATE, seconds))
  const { requests, deliveries } = result
  return {
    ...used,
    'calm request p50': percentile(requests, 50),
    'calm request p99': percentile(requests, 99),
    'calm receipt p50': percentile(deliveries, 50),
    'calm receipt p99': percentile(deliveries, 99),
  }
}

async function measureBurst(subject: Subject, count: number) {
  const { used, result } = await usagePerEvent('burst', subject, count, () => subject.pusher.pushBurst(count, 16))
  return { ...used, 'burst rate': (count * 1000) / result.ms, ...memoryOf('burst', subject) }
}

function memoryOf(prefix: string, { deployment }: Subject) {
  const { service, database } = deployment.memory()
  return { [`${prefix} memory service`]: service, [`${prefix} memory database`]: database }
}

async function measureIdle(subject: Subject, seconds: number) {
  const before = subject.deployment.cpu()
  await sleep(seconds * 1000)
  const after = subject.deployment.cpu()
  const percent = (name: keyof typeof after) => (after[name] - before[name]) / seconds / 10
  record(subject, { 'idle service': percent('service'), 'idle database': percent('database') })
}

async function measureSingle({ pusher }: Subject) {
  await sleep(1000)
  const { deliveries, requests } = await pusher.pushAtRate(1, 1)
  return { 'single request': requests[0] as number, 'single receipt': deliveries[0] as number }
}

function print({ name, results }: Subject, { seconds, rounds, burst, idleSeconds, singles }: Options) {
  const of = (key: string) => median(results[key] ?? [])
  const time = (key: string) => ms(of(key))
  const all = (key: string) => (results[key] ?? []).map((value) => value.toFixed(2)).join(' ')
  const usage = (kind: string) => [
    `    CPU seconds per 1,000 events: ${(of(`${kind} service`) + of(`${kind} database`)).toFixed(2)}`,
    `      service ${all(`${kind} service`)} (API processes ${all(`${kind} api`)}, worker ${all(`${kind} worker`)})`,
    `      PostgreSQL ${all(`${kind} database`)}`,
    `    per event: ${of(`${kind} commits`).toFixed(2)} transactions, ${of(`${kind} syncs`).toFixed(2)} WAL syncs`,
  ]
  const lines = [
    name,
    `  ${RATE} events/s for ${rounds} x ${seconds} s`,
    ...usage('calm'),
    `    request p50 ${time('calm request p50')}, p99 ${time('calm request p99')} (${all('calm request p99')})`,
    `    response to receipt p50 ${time('calm receipt p50')}, p99 ${time('calm receipt p99')} (${all('calm receipt p99')})`,
    `  burst of ${burst} events, 16 connections: ${perSecond(of('burst rate'))} accepted and delivered (${all('burst rate')})`,
    ...usage('burst'),
    `  memory of the service ${Math.round(of('idle memory service'))} MB idle, ${Math.round(of('burst memory service'))} MB after a burst; of PostgreSQL ${Math.round(of('idle memory database'))} and ${Math.round(of('burst memory database'))} MB`,
    `  idle for ${idleSeconds} s: ${of('idle service').toFixed(2)} % of a core for the service, ${of('idle database').toFixed(2)} % for PostgreSQL`,
    `  single events on an idle service, ${singles} times`,
    `    request p50 ${time('single request')}, response to receipt p50 ${time('single receipt')} (${all('single receipt')})`,
  ]
  console.log(`${lines.join('\n')}\n`)
}
