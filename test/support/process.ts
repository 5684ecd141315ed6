import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const root = resolve(import.meta.dirname, '../..')
export const main = join(root, 'src/main.ts')
export const assay = join(root, 'bin/assay.mjs')

export type Env = Record<string, string | undefined>
export type ProcessResult = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/**
 * Only the PATH of this environment, like under a service manager, the cache of compiled code, because tests start many processes,
 * and the guard of setup.ts.
 */
export const cleanEnv = (env: Env): Record<string, string> => {
  const { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS } = process.env
  const variables = Object.entries({ PATH, NODE_COMPILE_CACHE, NODE_OPTIONS, ...localOnly, PORT: '0', ...env })
  return Object.fromEntries(variables.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

/** npm would ask its registry for a newer version of itself, and the client of Google would look for the metadata service of its cloud. */
export const localOnly = { npm_config_update_notifier: 'false', METADATA_SERVER_DETECTION: 'none' }

type Run = { env: Env; log?: string | undefined; timeout?: number | undefined; account?: { uid: number; gid: number } | undefined }

/** Runs a command in a new process. `log` also writes its output to a file. */
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
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
      if (log) appendFileSync(log, text)
    })
  child.stdin.on('error', () => {})
  const exited = new Promise<ProcessResult>((resolve) => child.once('close', (code, signal) => resolve({ code, signal, ...output })))
  return { child, pid: child.pid as number, output, exited, waitForOutput: (pattern: RegExp) => waitForOutput(child, output, pattern) }
}

/** Waits for a match on standard output and fails if the process exits before. */
const waitForOutput = (child: ChildProcess, output: { stdout: string; stderr: string }, pattern: RegExp) =>
  eventually(() => {
    const found = pattern.exec(output.stdout)
    if (!found && (child.exitCode !== null || child.signalCode !== null))
      throw new FatalError(
        `The process ended (${child.exitCode ?? child.signalCode}) before printing ${pattern}: ${output.stderr || output.stdout}`,
      )
    return found
  })

export type Service = ReturnType<typeof run> & { url: string; readyMs: number; stop(signal?: NodeJS.Signals): Promise<ProcessResult> }

export const runMain = (env: Env, log?: string, timeout?: number, checkout = root) =>
  run([process.execPath, ...startArguments(checkout)], { env, log, timeout })

/** The arguments of Node in `npm start`. */
function startArguments(checkout: string) {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const [, , ...args] = scripts.start.split(' ')
  return args.map((value) => (value.startsWith('-') ? value : join(checkout, value)))
}

/** Starts the service like a user does and waits until it is ready. `checkout` is a folder with another version. */
export async function startProcess(env: Env, log?: string, checkout?: string): Promise<Service> {
  const startedAt = performance.now()
  const running = runMain(env, log, undefined, checkout)
  const [, url = ''] = await running.waitForOutput(/Assay is ready at (\S+)/)
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    running.child.kill(signal)
    return running.exited
  }
  return { ...running, url, readyMs: Math.round(performance.now() - startedAt), stop }
}

export type Credentials = { base_url: string; org_id: string; team_id: string; team_api_key: string; management_key: string }

export const readCredentials = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Credentials

/** An error that ends the polling. */
class FatalError extends Error {}

/** The timeout of every wait, long enough that a busy machine never fails a test, and shorter than that of a test, which would not name the wait. */
export const TIMEOUT_MS = 100_000

/** The polling interval for probes that open a database connection, which costs more than most statements. */
export const CONNECTION_POLL_MS = 100

/** Polls until the probe returns a truthy value. */
export async function eventually<T>(probe: () => T | Promise<T>, timeoutMs = TIMEOUT_MS, everyMs = 10): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const result = await Promise.resolve()
      .then(probe)
      .catch((error: Error) => error)
    if (result instanceof FatalError) throw result
    if (result && !(result instanceof Error)) return result
    if (performance.now() > deadline) throw new Error('The condition did not hold in time.', { cause: result })
    await sleep(everyMs)
  }
}

/** A zombie counts as dead, because a container may have no init process to reap it. */
export function isAlive(pid: number) {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && process.platform !== 'linux'
  }
}

export const postmasterOf = (dataDir: string) => Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)

type ServiceProcess = { pid: number; kind: 'api' | 'worker' }

/** The processes that a supervisor has started. */
export async function processesOf(supervisor: number): Promise<ServiceProcess[]> {
  const { stdout } = await run(['ps', '-A', '-o', 'pid=,ppid=,args='], { env: {} }).exited
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, kind] = /^\s*(\d+)\s+(\d+)\s.*child-main\.ts (\w+)/.exec(line) ?? []
    return Number(parent) === supervisor ? [{ pid: Number(pid), kind: kind as ServiceProcess['kind'] }] : []
  })
}
