import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { pino } from 'pino'
import { client } from '../../src/contract/client.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { assay, credentialsIn, type Env, eventually, isAlive, postmasterOf, run, type Service, startProcess } from '../support/process.ts'
import { faultsInTables } from './tables.ts'
import { type Attempt, type Ledger, newLedger, startWriters, type User } from './writers.ts'

export type Kind = { victim: 'process' | 'PostgreSQL'; database: 'embedded' | 'outside' }
export type Round = { round: number; acknowledged: number; unacknowledged: number; lost: number; recoveryMs: number; faults: string[] }
export type Result = { kind: Kind; rounds: Round[]; acknowledged: number; lost: number; faults: string[]; audit: string }

type Options = { rounds: number; log?: string | undefined; say?: (line: string) => void }

/** The service, its folder and the ledger of what was written so far. */
type Site = { kind: Kind; env: Env; dataDir: string; cluster: string; log: string | undefined; ledger: Ledger; service: Service }

const WRITERS = 8
const PATIENCE_MS = 30_000

/** Kills the victim while users are being created, again and again, and checks after each time what the service still knows. */
export async function tortureUsers(kind: Kind, { rounds, log, say = () => {} }: Options): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-torture-'))
  const outside = kind.database === 'outside' ? await startOutside(join(folder, 'outside')) : undefined
  const dataDir = join(folder, 'data')
  const env = {
    DATA_DIR: dataDir,
    ...(outside ? { DATABASE_URL: outside.url, ENCRYPTION_KEY: 'torture-0123456789abcdef0123456789abcdef' } : {}),
  }
  const cluster = outside ? join(folder, 'outside') : dataDir
  const site: Site = { kind, env, dataDir, cluster, log, ledger: newLedger(), service: await startProcess(env, log) }
  const done: Round[] = []
  try {
    for (let round = 1; round <= rounds; round++) {
      const result = await killDuringWrites(site, round)
      done.push(result)
      say(lineOf(kind, result))
    }
    const audit = await verifyAudit(site)
    const { code } = await site.service.stop()
    const endFaults = [...audit.faults, ...(code === 0 ? [] : [`the service ended with ${code} at SIGTERM`])]
    return summed(kind, done, endFaults, audit.said)
  } finally {
    await end(site)
    await outside?.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Durable as it comes: nothing of PostgreSQL's safety is switched off. */
const startOutside = (dataDir: string) => startEmbedded({ dataDir, log: pino({ level: 'silent' }) })

async function killDuringWrites(site: Site, round: number): Promise<Round> {
  const writers = startWriters(site.ledger, {
    base: site.service.url,
    key: credentialsIn(site.dataDir).team_api_key,
    round,
    count: WRITERS,
  })
  const enough = randomInt(40, 120)
  await eventually(() => writers.acknowledged() >= enough, PATIENCE_MS)
  const killedAt = performance.now()
  const faults = site.kind.victim === 'process' ? await killProcess(site, writers) : await killPostgres(site, writers)
  const recoveryMs = Math.round(performance.now() - killedAt)
  const { attempts } = await writers.stop()
  const { lost, faults: found } = await compare(site)
  return {
    round,
    acknowledged: attempts.filter((attempt) => attempt.user).length,
    unacknowledged: attempts.filter((attempt) => !attempt.user).length,
    lost,
    recoveryMs,
    faults: [...faults, ...writers.faults(), ...found],
  }
}

type Writers = ReturnType<typeof startWriters>

/** kill -9, and the same start again. */
async function killProcess(site: Site, writers: Writers) {
  process.kill(site.service.pid, 'SIGKILL')
  await writers.stop()
  await site.service.ended
  site.service = await startProcess(site.env, site.log)
  await userApi(site).createUser({ body: { client_user_id: `after-${site.service.pid}-${Date.now()}` } })
  return []
}

/** kill -9 under a service that must live on and find back by itself. */
async function killPostgres(site: Site, writers: Writers) {
  const died = site.service.ended.then(({ stderr }) => {
    throw new Error(`The service died with its database: ${stderr}`)
  })
  const killed = postmasterOf(site.cluster)
  process.kill(killed, 'SIGKILL')
  const recovered = async () => {
    await writers.fail()
    // A backend of the killed server may still finish what it is at; only answers of the next one count.
    await eventually(() => postmasterOf(site.cluster) !== killed, PATIENCE_MS)
    const before = writers.acknowledged()
    await eventually(() => writers.acknowledged() > before, PATIENCE_MS)
    return []
  }
  return Promise.race([recovered(), died])
}

const userApi = ({ service, dataDir }: Site) => client(service.url, { 'x-service-api-key': credentialsIn(dataDir).team_api_key })

/** What the API and the tables hold, against what was acknowledged. */
async function compare(site: Site) {
  const known = new Map<string, User[]>()
  for (const user of await everyUser(site)) known.set(user.client_user_id, [...(known.get(user.client_user_id) ?? []), user])
  const twice = [...known].filter(([, users]) => users.length > 1).map(([id]) => `${id} exists twice`)
  const wrong = site.ledger.attempts.map((attempt) => judge(attempt, known.get(attempt.body.client_user_id)?.[0]))
  const lost = wrong.filter((verdict) => verdict === 'lost').length
  const faults = wrong.filter((verdict) => verdict && verdict !== 'lost') as string[]
  return { lost, faults: [...twice, ...faults, ...(await faultsInTables(site.env, site.dataDir))] }
}

/** An acknowledged user is there as it was answered; another one wholly or not at all. */
function judge({ body, user }: Attempt, found: User | undefined) {
  if (user) return !found ? 'lost' : isDeepStrictEqual(found, user) ? undefined : `${body.client_user_id} changed`
  if (!found) return undefined
  const whole = found.fallback_birth_date?.value === body.fallback_birth_date && found.fallback_time_zone?.id === body.fallback_time_zone
  return whole ? undefined : `${body.client_user_id} is there in part`
}

async function everyUser(site: Site) {
  const api = userApi(site)
  const users: User[] = []
  for (let total = 1; users.length < total; ) {
    const page = await whenBack(() => api.listUsers({ query: { limit: 500, offset: users.length } }))
    if (!page.users.length) throw new Error(`The list ends at ${users.length} of ${page.total}`)
    users.push(...page.users)
    total = page.total
  }
  return users
}

/** As a client does that was promised: a 503 says to send again, for connections of the killed server may still lie in the pool. */
async function whenBack<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if ((error as { status?: number }).status !== 503 || performance.now() > deadline) throw error
    }
    await sleep(20)
  }
}

/** The operator's own command, beside the running service. */
async function verifyAudit({ env }: Site) {
  const { code, stdout, stderr } = await run([process.execPath, assay, 'audit', 'verify'], { env }).ended
  const said = (stdout || stderr).trim()
  return { said, faults: code === 0 && /^intact: [1-9]/.test(said) ? [] : [`audit verify: ${said}`] }
}

async function end({ service, kind, cluster }: Site) {
  service.child.kill('SIGKILL')
  await service.ended
  if (kind.database === 'embedded') await eventually(() => !isAlive(postmasterPid(cluster)))
}

function postmasterPid(cluster: string) {
  try {
    return postmasterOf(cluster)
  } catch {
    return 0x7fffffff
  }
}

function summed(kind: Kind, rounds: Round[], endFaults: string[], audit: string): Result {
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

const nameOf = ({ victim, database }: Kind) => `kill -9 of ${victim}, ${database}`

const lineOf = (kind: Kind, { round, acknowledged, unacknowledged, lost, recoveryMs, faults }: Round) =>
  `${nameOf(kind)}, round ${round}: ${acknowledged} acknowledged, ${lost} lost, ${unacknowledged} unanswered or refused, recovered in ${recoveryMs} ms${faults.map((fault) => `\n  ${fault}`).join('')}`

export function summaryOf({ kind, rounds, acknowledged, lost, faults, audit }: Result) {
  const recovery = rounds.map((round) => round.recoveryMs).sort((a, b) => a - b)
  const times = `recovery median ${recovery[Math.floor(recovery.length / 2)]} ms, longest ${recovery.at(-1)} ms`
  return `${nameOf(kind)}: ${rounds.length} rounds, ${acknowledged} acknowledged, ${lost} lost, ${faults.length} faults, ${times}, audit ${audit}`
}
