import { closeSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { openPrivate } from '../../private-files.ts'
import { setupProblem } from '../../problem.ts'
import { type Access, urlOf } from './access.ts'
import { type Account, folderAs, spawnAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { lastLines } from './cluster.ts'
import type { ClusterPaths } from './files.ts'
import { endServer } from './leftovers.ts'
import { settingArguments } from './settings.ts'

export type Plan = {
  places: ClusterPaths
  account: Account
  binaries: Binaries
  access: Access
  settings?: Record<string, string> | undefined
}

/** `ended` resolves to the reason; `stop` returns when every process of the server has ended. */
export type Server = { pid: number; ended: Promise<string>; stop(): Promise<void> }

// Replaying the write-ahead log after a crash can take a while on a slow disk.
const startPatienceMs = 300_000

/** Starts the server and waits until it answers. */
export async function launch(plan: Plan, signal: AbortSignal): Promise<Server> {
  const server = spawnServer(plan)
  let reason: string | undefined
  void server.ended.then((text) => {
    reason = text
  })
  const startedAt = performance.now()
  for (;;) {
    const failure = await ask(urlOf(plan.places, plan.access))
    if (!failure) return server
    const waitedMs = performance.now() - startedAt
    if (wrongPassword(failure)) reason ??= `${failure.message}; remove ${plan.places.access} and start again to set a new one`
    if (reason !== undefined || signal.aborted || waitedMs > startPatienceMs) return giveUp(plan, server, reason ?? failure.message)
    await sleep(Math.min(10 + waitedMs / 50, 200))
  }
}

const wrongPassword = ({ code }: NodeJS.ErrnoException) => code === '28P01'

async function giveUp({ places }: Plan, server: Server, reason: string): Promise<never> {
  await server.stop()
  const tail = existsSync(places.log) ? lastLines(readFileSync(places.log, 'utf8')) : ''
  throw setupProblem(`PostgreSQL did not start in ${places.cluster} (${reason}): ${tail || 'its log is empty'}`)
}

function spawnServer(plan: Plan): Server {
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

/** Of its own session, so that Ctrl-C or a signal to our group does not stop it under the requests still in flight. */
function spawnPostmaster({ places, account, binaries, access, settings }: Plan) {
  const fd = openPrivate(places.log)
  const command = [binaries.postgres, '-D', folderAs(account, places.cluster), ...settingArguments(access, settings)]
  try {
    return spawnAs(account, command, { folder: places.cluster, detached: true, stdio: ['ignore', fd, fd], death: 'INT' })
  } finally {
    closeSync(fd)
  }
}

/** Keeps the log of the run before, for the reason of a crash, and nothing older. */
export function rotateLog({ log }: ClusterPaths) {
  if (existsSync(log)) renameSync(log, `${log}.1`)
}

/** Connects once; undefined when that worked. */
export async function ask(connectionString: string): Promise<NodeJS.ErrnoException | undefined> {
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
