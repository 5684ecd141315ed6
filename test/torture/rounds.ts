import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { type Client, createClient } from '../../src/contract/client.ts'
import { startEmbedded } from '../../src/platform/db/embedded/start.ts'
import {
  assay,
  type Env,
  eventually,
  isAlive,
  postmasterOf,
  readCredentials,
  run,
  type Service,
  startProcess,
  TIMEOUT_MS,
} from '../support/process.ts'
import { newUuid, randomInteger } from '../support/seeded.ts'
import { faultsInTables, runInTables } from './tables.ts'
import { type Attempt, send, startWriters, type Work } from './writers.ts'

type Victim = 'process' | 'PostgreSQL'
/** The rounds kill the victims in turn. */
export type Kind = { victims: Victim[]; database: 'embedded' | 'external' }
type Round = {
  round: number
  victim: Victim
  acknowledged: number
  unacknowledged: number
  lost: number
  recoveryMs: number
  faults: string[]
}
export type Result = { kind: Kind; rounds: Round[]; acknowledged: number; lost: number; faults: string[]; audit: string }

/** `dataDir` is a prepared data folder, which is removed at the end. Without it the service starts for the first time. */
type Options = { rounds: number; dataDir?: string; log?: string | undefined; print?: (line: string) => void }

/** The writes during kills, and how to check afterwards that they were kept. */
export type Subject<B, A> = {
  /** Creates the data that the writes refer to. */
  prepare(api: Client): Promise<Work<B>>
  compare(api: Client, attempts: Attempt<B, A>[]): Promise<{ lost: number; faults: string[] }>
  /** Queries by name that count rows that must never exist. */
  checks: Record<string, string>
  /** A query that is true once no pending work can affect the checks. */
  settled?: string
  /** A statement that runs before `finish`. */
  beforeFinish?: string
  /** Runs once, after the last round. */
  finish?(api: Client, attempts: Attempt<B, A>[]): Promise<string[]>
}

/** The service, its folder and the writes so far. */
type Site<B, A> = {
  kind: Kind
  subject: Subject<B, A>
  work: Work<B>
  env: Env
  dataDir: string
  log: string | undefined
  attempts: Attempt<B, A>[]
  service: Service
}

const WRITERS = 8

/** Repeatedly kills the victim under load and checks after each kill that nothing acknowledged is lost. */
export async function torture<B, A>(subject: Subject<B, A>, kind: Kind, options: Options): Promise<Result> {
  const { rounds, log, print = () => {}, dataDir = mkdtempSync(join(tmpdir(), 'assay-torture-')) } = options
  const external = kind.database === 'external' ? await startExternal(dataDir) : undefined
  const env = { DATA_DIR: dataDir, ...external?.env }
  const service = await startProcess(env, log)
  const work = await subject.prepare(apiOf(service, dataDir))
  const site: Site<B, A> = { kind, subject, work, env, dataDir, log, attempts: [], service }
  const results: Round[] = []
  try {
    for (let round = 1; round <= rounds; round++) {
      const result = await killDuringWrites(site, round)
      results.push(result)
      print(describeRound(kind, result))
    }
    if (subject.beforeFinish) await runInTables(site, subject.beforeFinish)
    const finishFaults = (await subject.finish?.(withRetries(apiOf(site.service, dataDir)), site.attempts)) ?? []
    const audit = await verifyAudit(site)
    const { code } = await site.service.stop()
    const endFaults = [...finishFaults, ...audit.faults, ...(code === 0 ? [] : [`the service exited with code ${code} after SIGTERM`])]
    return summarize(kind, results, endFaults, audit.output)
  } finally {
    await stopSite(site)
    await external?.stop()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Starts PostgreSQL with its default durability in a data folder. `env` lets a service use it as a separate database. */
export async function startExternal(dataDir: string) {
  const { url, stop } = await startEmbedded({ dataDir, log: pino({ level: 'silent' }) })
  return { url, stop, env: { DATABASE_URL: url, ...settingsOf(dataDir) } }
}

/** The settings of a service that uses a data folder with a separate database. */
export function settingsOf(dataDir: string) {
  const keyFile = join(dataDir, 'encryption.key')
  const ENCRYPTION_KEY = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : 'torture-0123456789abcdef0123456789abcdef'
  return { DATA_DIR: dataDir, ENCRYPTION_KEY }
}

const apiOf = (service: Service, dataDir: string) =>
  createClient(service.url, { 'x-service-api-key': readCredentials(dataDir).team_api_key })

const targetOf = <B, A>({ service, dataDir, work }: Site<B, A>) => ({
  base: service.url,
  key: readCredentials(dataDir).team_api_key,
  work,
})

async function killDuringWrites<B, A>(site: Site<B, A>, round: number): Promise<Round> {
  const writers = startWriters<B, A>({ ...targetOf(site), round, count: WRITERS })
  const victim = site.kind.victims[(round - 1) % site.kind.victims.length] as Victim
  const minimum = randomInteger(15, 54)
  await eventually(() => writers.acknowledged() >= minimum)
  const killedAt = performance.now()
  if (victim === 'process') await killProcess(site, writers)
  else await killPostgres(site, writers)
  const recoveryMs = Math.round(performance.now() - killedAt)
  const attempts = await writers.stop()
  site.attempts.push(...attempts)
  const { lost, faults } = await compare(site)
  return {
    round,
    victim,
    acknowledged: attempts.filter((attempt) => attempt.response).length,
    unacknowledged: attempts.filter((attempt) => !attempt.response).length,
    lost,
    recoveryMs,
    faults: [...writers.faults(), ...faults],
  }
}

type Writers = { acknowledged(): number; waitForFailure(): Promise<unknown>; stop(): Promise<unknown> }

/** Kills the process with SIGKILL and restarts it. */
async function killProcess<B, A>(site: Site<B, A>, writers: Writers) {
  process.kill(site.service.pid, 'SIGKILL')
  await writers.stop()
  await site.service.exited
  site.service = await startProcess(site.env, site.log)
  const attempt: Attempt<B, A> = { body: site.work.body(`after-${newUuid()}`) }
  const fault = await send(targetOf(site), attempt)
  if (!attempt.response) throw new Error(`The restarted service does not accept writes: ${fault ?? 'no response'}`)
  site.attempts.push(attempt)
}

/** Kills PostgreSQL with SIGKILL under a service that must recover by itself. */
async function killPostgres<B, A>(site: Site<B, A>, writers: Writers) {
  const serviceExited = site.service.exited.then(({ stderr }) => {
    throw new Error(`The service died with its database: ${stderr}`)
  })
  const killed = postmasterOf(site.dataDir)
  process.kill(killed, 'SIGKILL')
  const waitForRecovery = async () => {
    await writers.waitForFailure()
    // A backend of the killed server may still finish its statement; only responses of the next server count.
    await eventually(() => postmasterOf(site.dataDir) !== killed)
    const before = writers.acknowledged()
    await eventually(() => writers.acknowledged() > before)
  }
  await Promise.race([waitForRecovery(), serviceExited])
}

/** Compares the API and the tables with the acknowledged writes. */
async function compare<B, A>({ service, dataDir, env, subject, attempts }: Site<B, A>) {
  const { lost, faults } = await subject.compare(withRetries(apiOf(service, dataDir)), attempts)
  return { lost, faults: [...faults, ...(await faultsInTables({ env, dataDir }, subject))] }
}

/** A client that retries on 503. */
export const withRetries = (api: Client) =>
  new Proxy(api, {
    get: (api, name) => (input: never) => retryWhile503(() => (api[name as keyof Client] as (input: never) => Promise<unknown>)(input)),
  })

/** Retries on 503, because the pool may still hold connections of the killed server. */
async function retryWhile503<T>(request: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if ((error as { status?: number }).status !== 503 || performance.now() > deadline) throw error
    }
    await sleep(20)
  }
}

/** Runs the CLI while the service is running. */
export async function verifyAudit({ env }: { env: Env }) {
  const { code, stdout, stderr } = await run([process.execPath, assay, 'audit', 'verify'], { env }).exited
  const output = (stdout || stderr).trim()
  return { output, faults: code === 0 && /^intact: [1-9]/.test(output) ? [] : [`audit verify: ${output}`] }
}

async function stopSite<B, A>({ service, kind, dataDir }: Site<B, A>) {
  service.child.kill('SIGKILL')
  await service.exited
  if (kind.database === 'embedded') await eventually(() => !isAlive(postmasterPid(dataDir)))
}

function postmasterPid(dataDir: string) {
  try {
    return postmasterOf(dataDir)
  } catch {
    return 0x7fffffff
  }
}

function summarize(kind: Kind, rounds: Round[], endFaults: string[], audit: string): Result {
  const sum = (field: 'acknowledged' | 'lost') => rounds.reduce((total, round) => total + round[field], 0)
  return {
    kind,
    rounds,
    acknowledged: sum('acknowledged'),
    lost: sum('lost'),
    faults: [...rounds.flatMap((round) => round.faults), ...endFaults],
    audit,
  }
}

const nameOf = ({ victims, database }: Kind) => `kill -9 of ${[...new Set(victims)].join(' and ')}, ${database}`

const describeRound = ({ database }: Kind, { round, victim, acknowledged, unacknowledged, lost, recoveryMs, faults }: Round) =>
  `${nameOf({ victims: [victim], database })}, round ${round}: ${acknowledged} acknowledged, ${lost} lost, ${unacknowledged} without a response or rejected, recovered in ${recoveryMs} ms${faults.map((fault) => `\n  ${fault}`).join('')}`

export function summaryOf({ kind, rounds, acknowledged, lost, faults, audit }: Result) {
  const recovery = rounds.map((round) => round.recoveryMs).sort((a, b) => a - b)
  const times = `recovery median ${recovery[Math.floor(recovery.length / 2)]} ms, longest ${recovery.at(-1)} ms`
  return `${nameOf(kind)}: ${rounds.length} rounds, ${acknowledged} acknowledged, ${lost} lost, ${faults.length} faults, ${times}, audit ${audit}`
}
