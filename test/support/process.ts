import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const root = resolve(import.meta.dirname, '../..')
export const main = join(root, 'src/main.ts')
export const assay = join(root, 'bin/assay.mjs')

export type Env = Record<string, string | undefined>
export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** Nothing of our own environment but the path, as a service manager would start it. */
export const cleanEnv = (env: Env): Record<string, string> => {
  const given = Object.entries({ PATH: process.env['PATH'], PORT: '0', ...env })
  return Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

type Run = { env: Env; log?: string | undefined; timeout?: number | undefined; account?: { uid: number; gid: number } | undefined }

/** A command of ours in a process of its own. What it says can be waited for; `log` also keeps it in a file. */
export function run(command: string[], { env, log, timeout, account }: Run) {
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    cwd: '/',
    env: cleanEnv(env),
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout,
    killSignal: 'SIGKILL',
    ...account,
  })
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text
      if (log) appendFileSync(log, text)
    })
  child.stdin.on('error', () => {})
  const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => resolve({ code, signal, ...said })))
  return { child, pid: child.pid as number, said, ended, says: (pattern: RegExp) => says(child, said, pattern) }
}

/** What the pattern found on standard output; fails when the process ends without saying it. */
const says = (child: ChildProcess, said: { stdout: string; stderr: string }, pattern: RegExp) =>
  eventually(() => {
    const found = pattern.exec(said.stdout)
    if (!found && (child.exitCode !== null || child.signalCode !== null))
      throw new Final(`It ended (${child.exitCode ?? child.signalCode}) before saying ${pattern}: ${said.stderr || said.stdout}`)
    return found
  })

export type Service = ReturnType<typeof run> & { url: string; readyMs: number; stop(signal?: NodeJS.Signals): Promise<Ended> }

export const node = (env: Env, log?: string, timeout?: number) => run([process.execPath, main], { env, log, timeout })

/** The service as a user starts it, once it says that it is ready. */
export async function startProcess(env: Env, log?: string): Promise<Service> {
  const startedAt = performance.now()
  const running = node(env, log)
  const [, url = ''] = await running.says(/Assay is ready at (\S+)/)
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    running.child.kill(signal)
    return running.ended
  }
  return { ...running, url, readyMs: Math.round(performance.now() - startedAt), stop }
}

export type Kept = { base_url: string; org_id: string; team_id: string; team_api_key: string; management_key: string }

export const credentialsIn = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Kept

/** An error that waiting does not mend. */
class Final extends Error {}

/** How long anything is waited for that should come at once. A quiet machine needs none of it; a busy one decides nothing by being slow. */
export const PATIENCE_MS = 120_000

/** The first answer that is not empty and not an error. */
export async function eventually<T>(ask: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<NonNullable<T>> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const answer = await Promise.resolve()
      .then(ask)
      .catch((error: Error) => error)
    if (answer instanceof Final) throw answer
    if (answer && !(answer instanceof Error)) return answer
    if (performance.now() > deadline) throw new Error('It did not happen in time.', { cause: answer })
    await sleep(10)
  }
}

export function isAlive(pid: number) {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && process.platform !== 'linux'
  }
}

export const postmasterOf = (dataDir: string) => Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
