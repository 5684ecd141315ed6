import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { setupProblem } from '../../problem.ts'

/**
 * Stops processes of an earlier server and removes its pid files. The caller holds the lock, so nothing else uses them.
 * A pid that now belongs to another program is not touched.
 */
export async function clearLeftovers(cluster: string, log: Logger) {
  const pidFiles = ['postmaster.pid', '.s.PGSQL.5432.lock'].map((name) => join(cluster, name)).filter((file) => fs.existsSync(file))
  const [pidFile] = pidFiles
  if (!pidFile) return
  const pid = Number.parseInt(fs.readFileSync(pidFile, 'utf8'), 10)
  if (isServerOf(cluster, pid)) {
    log.warn({ pid }, 'stopping PostgreSQL of an earlier process')
    await endServer(pid, () => !isServerOf(cluster, pid))
  }
  await killOrphans(cluster)
  for (const file of pidFiles) fs.rmSync(file, { force: true })
}

/** A fast shutdown comes first. After the other signals, the next start runs crash recovery. */
const shutdown = [
  { signal: 'SIGINT', timeoutMs: 60_000 },
  { signal: 'SIGQUIT', timeoutMs: 10_000 },
  { signal: 'SIGKILL', timeoutMs: 10_000 },
] as const

export async function endServer(pid: number, isGone: () => boolean) {
  for (const { signal, timeoutMs } of shutdown) {
    if (!isGone()) send(pid, signal)
    if (await waitUntil(isGone, timeoutMs)) return
  }
  throw setupProblem(`PostgreSQL with pid ${pid} does not stop. End the process and restart.`)
}

/** Backends of a killed server hold its shared memory until their query ends, which can take long. */
async function killOrphans(cluster: string) {
  for (const pid of serversIn(cluster)) send(pid, 'SIGKILL')
  await waitUntil(() => serversIn(cluster).length === 0, 10_000)
}

/** The processes of a server, even if its first process was killed. */
export function serversIn(cluster: string) {
  if (process.platform !== 'linux') return []
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => isServerOf(cluster, pid))
}

/** On Linux a server is recognized by its working folder, on other systems by its command line. */
function isServerOf(cluster: string, pid: number) {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).includes(cluster)
    if (fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') return false
    const [expected, actual] = [fs.statSync(cluster), fs.statSync(`/proc/${pid}/cwd`)]
    return expected.ino === actual.ino && expected.dev === actual.dev
  } catch {
    return false
  }
}

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch {} // the process has already ended
}

async function waitUntil(isDone: () => boolean, timeoutMs: number) {
  const deadline = performance.now() + timeoutMs
  while (!isDone()) {
    if (performance.now() > deadline) return false
    await sleep(10)
  }
  return true
}
