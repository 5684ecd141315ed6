import { closeSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { openPrivate } from '../../private-files.ts'
import { setupProblem } from '../../problem.ts'
import type { Supervised } from '../../runtime/supervise.ts'
import { type Access, urlOf } from './access.ts'
import { type Account, folderAs, spawnAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { lastLines } from './cluster.ts'
import type { ClusterPaths } from './files.ts'
import { endServer } from './leftovers.ts'
import { serverArguments } from './settings.ts'

export type Plan = {
  paths: ClusterPaths
  account: Account
  binaries: Binaries
  access: Access
  settings?: Record<string, string> | undefined
}

// Replaying the write-ahead log after a crash can take a while on a slow disk.
const startTimeoutMs = 300_000

/** Starts the server and waits until it accepts connections. */
export async function launch(plan: Plan, signal: AbortSignal): Promise<Supervised> {
  const server = spawnServer(plan)
  let reason: string | undefined
  void server.ended.then((text) => {
    reason = text
  })
  const startedAt = performance.now()
  for (;;) {
    const failure = await tryConnect(urlOf(plan.paths, plan.access))
    if (!failure) return server
    const waitedMs = performance.now() - startedAt
    if (isWrongPassword(failure)) reason ??= `${failure.message}; remove ${plan.paths.access} and restart to set a new password`
    if (reason !== undefined || signal.aborted || waitedMs > startTimeoutMs) return giveUp(plan, server, reason ?? failure.message)
    await sleep(Math.min(10 + waitedMs / 50, 200))
  }
}

const isWrongPassword = ({ code }: NodeJS.ErrnoException) => code === '28P01'

async function giveUp({ paths }: Plan, server: Supervised, reason: string): Promise<never> {
  await server.stop()
  const tail = existsSync(paths.log) ? lastLines(readFileSync(paths.log, 'utf8')) : ''
  throw setupProblem(`PostgreSQL did not start in ${paths.cluster} (${reason}): ${tail || 'its log is empty'}`)
}

function spawnServer(plan: Plan): Supervised {
  const child = spawnPostmaster(plan)
  child.unref()
  let isGone = false
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit status ${code}`))
  }).finally(() => {
    isGone = true
  })
  const pid = child.pid ?? 0
  return { pid, ended, stop: async () => (isGone || !pid ? undefined : endServer(pid, () => isGone)) }
}

/** PostgreSQL gets its own session, so Ctrl-C does not stop it while requests are in flight. */
function spawnPostmaster({ paths, account, binaries, access, settings }: Plan) {
  const fd = openPrivate(paths.log)
  const command = [binaries.postgres, '-D', folderAs(account, paths.cluster), ...serverArguments(access, settings)]
  try {
    return spawnAs(account, command, { folder: paths.cluster, detached: true, stdio: ['ignore', fd, fd], parentDeathSignal: 'INT' })
  } finally {
    closeSync(fd)
  }
}

/** Keeps only the log of the previous run, which shows why the server crashed. */
export function rotateLog({ log }: ClusterPaths) {
  if (existsSync(log)) renameSync(log, `${log}.1`)
}

/** Connects once and returns the error, or undefined on success. */
export async function tryConnect(connectionString: string): Promise<NodeJS.ErrnoException | undefined> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}
