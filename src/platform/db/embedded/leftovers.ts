import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { setupProblem } from '../../problem.ts'

/**
 * Ends what an earlier server left running in the cluster and removes its pid files. We hold the lock, so nobody needs it any more.
 * A pid that the system has since given to another program is left alone.
 */
export async function clearLeftovers(cluster: string, log: Logger) {
  const pidFiles = ['postmaster.pid', '.s.PGSQL.5432.lock'].map((name) => join(cluster, name)).filter((file) => fs.existsSync(file))
  const [pidFile] = pidFiles
  if (!pidFile) return
  const pid = Number.parseInt(fs.readFileSync(pidFile, 'utf8'), 10)
  if (isServerOf(cluster, pid)) {
    log.warn({ pid }, 'stopping the PostgreSQL that an earlier process left behind')
    await endServer(pid, () => !isServerOf(cluster, pid))
  }
  await endStrays(cluster)
  for (const file of pidFiles) fs.rmSync(file, { force: true })
}

/** Fast shutdown first; if that hangs, the ways that the next start has to recover from. */
const shutdown = [
  { signal: 'SIGINT', patienceMs: 60_000 },
  { signal: 'SIGQUIT', patienceMs: 10_000 },
  { signal: 'SIGKILL', patienceMs: 10_000 },
] as const

export async function endServer(pid: number, isGone: () => boolean) {
  for (const { signal, patienceMs } of shutdown) {
    if (!isGone()) send(pid, signal)
    if (await until(isGone, patienceMs)) return
  }
  throw setupProblem(`PostgreSQL with pid ${pid} cannot be stopped: end it and start again.`)
}

/** Backends whose server was killed hold its shared memory until they end by themselves, which a long query can delay. */
async function endStrays(cluster: string) {
  for (const pid of serversIn(cluster)) send(pid, 'SIGKILL')
  await until(() => serversIn(cluster).length === 0, 10_000)
}

function serversIn(cluster: string) {
  if (process.platform !== 'linux') return []
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => isServerOf(cluster, pid))
}

/** A server works in its cluster's folder; elsewhere than on Linux its command line has to tell. */
function isServerOf(cluster: string, pid: number) {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).includes(cluster)
    if (fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') return false
    const [here, there] = [fs.statSync(cluster), fs.statSync(`/proc/${pid}/cwd`)]
    return here.ino === there.ino && here.dev === there.dev
  } catch {
    return false
  }
}

function send(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(pid, signal)
  } catch {} // it has ended by itself
}

async function until(isDone: () => boolean, patienceMs: number) {
  const deadline = performance.now() + patienceMs
  while (!isDone()) {
    if (performance.now() > deadline) return false
    await sleep(10)
  }
  return true
}
