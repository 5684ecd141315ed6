import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { treeMemory } from '../../bench/memory.ts'
import { percentile } from '../../bench/numbers.ts'
import { type Client, createClient } from '../../src/contract/client.ts'
import type { ResponseBody } from '../../src/contract/endpoint.ts'
import type { Endpoints } from '../../src/contract/index.ts'
import { readCredentials, run, startProcess } from '../support/process.ts'
import type { Probe } from './health-probe.ts'
import type { Attack, AttackName, AttackReport } from './hostile-attackers.ts'
import { faultsInTables } from './tables.ts'
import { users } from './users.ts'

type User = ResponseBody<Endpoints['createUser']>

/** `seconds` is the duration of the attack. `dataDir` is a prepared data folder, which is removed at the end. */
type Options = { seconds: number; only?: AttackName[] | undefined; dataDir?: string; log?: string; print?: (line: string) => void }

type Behaved = Awaited<ReturnType<typeof observe>>
type Round = { idle: Behaved; attacked: Behaved; attack: AttackReport }

export type Hostile = {
  rounds: Round[]
  acknowledged: number
  lost: number
  faults: string[]
  memory: { before: number; peak: number; after: number }
  attack: AttackReport
}

/** The bodies in flight, the heap and the caches of the processes, with PostgreSQL. */
const MAX_MEMORY_MB = 2000
/** The limits under bombs alone. */
export const BOMBS = { memoryMb: 1000, healthMs: 250 }

/** The speed of a machine changes within minutes, so each minute of the attack follows an idle while. */
const ROUND_SECONDS = 60

/** Attacks a service for a while, beside a team that behaves well, and checks that this team notices nothing. */
export async function tortureHostile(options: Options): Promise<Hostile> {
  const { seconds, only, log, print = () => {}, dataDir = mkdtempSync(join(tmpdir(), 'assay-torture-')) } = options
  const service = await startProcess({ DATA_DIR: dataDir, TMPDIR: process.env['TMPDIR'] }, log)
  try {
    const { team_api_key } = readCredentials(dataDir)
    const good = createClient(service.url, { 'x-service-api-key': team_api_key })
    const hostile = await openHostileTeam(service.url, dataDir)
    const created: User[] = []
    await behaveWell(good, created, 1)
    const memory = { before: treeMemory(service.pid), peak: 0, after: 0 }
    const measurePeak = () => {
      memory.peak = Math.max(memory.peak, treeMemory(service.pid))
    }
    const watch = setInterval(measurePeak, 5000)
    const rounds: Round[] = []
    const count = Math.max(1, Math.round(seconds / ROUND_SECONDS))
    try {
      for (let i = 0; i < count; i++) {
        const idle = await observe(service.url, good, created, Math.min(20, seconds / count / 4))
        const attacking = startAttack({ base: service.url, ...hostile, seconds: seconds / count, only })
        const attacked = await observe(service.url, good, created, seconds / count)
        const round = { idle, attacked, attack: await attacking }
        rounds.push(round)
        measurePeak()
        print(`${latenciesOf([round])}, ${healthOf([round])}, ${Math.round(memory.peak)} MB at most, ${created.length} users`)
      }
    } finally {
      clearInterval(watch)
    }
    const rested = await observe(service.url, good, created, 1)
    memory.after = treeMemory(service.pid)
    const { lost, faults } = await compare(good, created)
    const tables = await faultsInTables({ env: {}, dataDir }, users)
    const { code } = await service.stop()
    const attack = sumOf(rounds.map((round) => round.attack))
    return {
      rounds,
      acknowledged: created.length,
      lost,
      faults: [
        ...[...rounds.flatMap(({ idle, attacked }) => [idle, attacked]), rested].flatMap(({ faults }) => faults),
        ...[...faults, ...tables],
        ...(attack['500'] ? [`${attack['500']} responses with 500 to the attackers`] : []),
        ...(memory.peak > MAX_MEMORY_MB ? [`${Math.round(memory.peak)} MB of memory`] : []),
        ...(code === 0 ? [] : [`the service exited with code ${code} after SIGTERM`]),
      ],
      memory,
      attack,
    }
  } finally {
    service.child.kill('SIGKILL')
    await service.exited
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A team of another organization would be the same; its key is valid, and it has a user with many samples. */
async function openHostileTeam(base: string, dataDir: string) {
  const { org_id, management_key } = readCredentials(dataDir)
  const admin = createClient(base, { 'x-management-key': management_key })
  const team = await admin.createTeam({ params: { org_id }, body: { name: 'Hostile', region: 'us' } })
  const params = { org_id, env: 'sandbox' as const, region: 'us' as const }
  const { value: key } = await admin.createTeamKey({ params, body: { label: 'hostile', team_id: team.id } })
  const api = createClient(base, { 'x-service-api-key': key })
  const { user_id } = await api.createUser({ body: { client_user_id: 'hostile' } })
  const data = Array.from({ length: 50_000 }, (_, i) => ({ start_date: new Date(i * 60_000 + 1.7e12).toISOString(), value: 60 + (i % 60) }))
  await api.pushSamples({ params: { user_id, resource: 'heartrate' }, body: { provider: 'manual', data } })
  const { sign_in_token: user_token } = await api.createUserToken({ params: { user_id } })
  return { key, user_id, user_token }
}

/** What the good team and a health check see. */
async function observe(base: string, good: Client, created: User[], seconds: number) {
  const [behaved, health] = await Promise.all([behaveWell(good, created, seconds), probeHealth(base, seconds)])
  return { ...behaved, health }
}

/** Reads /health every 100 ms. Returns the latencies. */
const probeHealth = (base: string, seconds: number) => runScript<number[]>('health-probe.ts', { base, seconds } satisfies Probe)

const startAttack = (attack: Attack) => runScript<AttackReport>('hostile-attackers.ts', attack)

/** Runs a script in its own process, whose times do not include the work of this one. */
async function runScript<T>(name: string, argument: object): Promise<T> {
  const { code, stdout, stderr } = await run([process.execPath, join(import.meta.dirname, name), JSON.stringify(argument)], { env: {} })
    .exited
  if (code !== 0) throw new Error(`${name} exited with code ${code}: ${stderr}`)
  return JSON.parse(stdout) as T
}

/** Creates and reads users, one request at a time. Every response must be a success. */
async function behaveWell(api: Client, created: User[], seconds: number) {
  const until = performance.now() + seconds * 1000
  const latencies: number[] = []
  const faults: string[] = []
  const attempt = async (call: () => Promise<unknown>) => {
    const at = performance.now()
    await call().catch((error) =>
      faults.push(`a request of the good team failed: ${error.status ?? error} ${JSON.stringify(error.detail)}`),
    )
    latencies.push(performance.now() - at)
  }
  while (performance.now() < until) {
    const client_user_id = `good-${created.length}-${Math.round(until)}`
    await attempt(async () => created.push(await api.createUser({ body: { client_user_id } })))
    const user_id = created.at(-1)?.user_id as string
    for (let i = 0; i < 4; i++) await attempt(() => api.getUser({ params: { user_id } }))
    await attempt(() => api.listUsers({ query: { limit: 20 } }))
  }
  return { latencies, faults: [...new Set(faults)] }
}

/** Every acknowledged user exists as it was returned. */
async function compare(api: Client, created: User[]) {
  const faults: string[] = []
  let lost = 0
  for (const user of created) {
    const found = await api.getUser({ params: { user_id: user.user_id } }).catch(() => undefined)
    if (!found) lost++
    else if (!isDeepStrictEqual(found, user)) faults.push(`${user.client_user_id} changed`)
  }
  return { lost, faults }
}

const sumOf = (reports: AttackReport[]) =>
  reports.reduce<AttackReport>((sum, report) => {
    for (const [status, count] of Object.entries(report)) sum[status] = (sum[status] ?? 0) + count
    return sum
  }, {})

/** How much slower the good team is under the attack than without it. */
export function slowdownOf(rounds: Round[]) {
  const p95Of = (kind: 'idle' | 'attacked') =>
    percentile(
      rounds.flatMap((round) => round[kind].latencies),
      95,
    )
  const [idle, attacked] = [p95Of('idle'), p95Of('attacked')]
  return { idle, attacked, ratio: attacked / idle }
}

function latenciesOf(rounds: Round[]) {
  const { idle, attacked, ratio } = slowdownOf(rounds)
  return `p95 of the good team ${attacked.toFixed(1)} ms, idle ${idle.toFixed(1)} ms, ratio ${ratio.toFixed(2)}`
}

function healthOf(rounds: Round[]) {
  const during = (kind: 'idle' | 'attacked') => {
    const latencies = rounds.flatMap((round) => round[kind].health)
    return `p95 ${percentile(latencies, 95).toFixed(1)} ms and at most ${Math.max(...latencies).toFixed(1)} ms`
  }
  return `/health ${during('attacked')}, idle ${during('idle')}`
}

/** Under bombs alone, the service stays responsive and small. Times depend on the machine, so only the long run checks them. */
export function faultsUnderBombs({ rounds, memory }: Hostile) {
  const slowest = Math.max(...rounds.flatMap(({ attacked }) => attacked.health))
  return [
    ...(slowest < BOMBS.healthMs ? [] : [`/health took ${slowest.toFixed(1)} ms`]),
    ...(memory.peak < BOMBS.memoryMb ? [] : [`${Math.round(memory.peak)} MB of memory`]),
  ]
}

export const summaryOfHostile = ({ rounds, acknowledged, lost, memory, attack }: Hostile) =>
  [
    `${acknowledged} acknowledged users, ${lost} lost`,
    latenciesOf(rounds),
    healthOf(rounds),
    `memory ${Math.round(memory.before)} MB before, ${Math.round(memory.peak)} MB at most, ${Math.round(memory.after)} MB after`,
    `responses to the attackers by status: ${JSON.stringify(attack)}`,
  ].join('\n')
