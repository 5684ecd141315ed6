import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { setupProblem } from '../../problem.ts'

/** The operating-system account that PostgreSQL runs as; undefined is our own. */
export type Account = { uid: number; gid: number } | undefined

const nobody = { uid: 65534, gid: 65534 }

/** PostgreSQL refuses root. A cluster that exists keeps its owner; a new one belongs to nobody. */
export function chooseAccount(cluster: string): Account {
  if (process.getuid?.() !== 0) return checkOwner(cluster)
  if (process.platform !== 'linux')
    throw setupProblem('PostgreSQL refuses to run as root: start Assay as an ordinary user or set DATABASE_URL.')
  const owner = existsSync(cluster) ? statSync(cluster) : nobody
  return owner.uid === 0 ? nobody : { uid: owner.uid, gid: owner.gid }
}

function checkOwner(cluster: string) {
  const uid = process.getuid?.()
  const owner = existsSync(cluster) ? statSync(cluster).uid : uid
  if (uid === undefined || owner === uid) return undefined
  throw setupProblem(`${cluster} belongs to uid ${owner} and Assay runs as uid ${uid}: start Assay as the user that made it.`)
}

/**
 * How the server names the folder it is started in. Another account may not be allowed through the folders above it; this
 * link leads straight to it, so the server needs no capability and can read nothing else.
 */
export const folderAs = (account: Account, folder: string) => (account ? '/proc/self/cwd' : folder)

const env = { LC_ALL: 'C' }

type Death = 'INT' | 'KILL'

/** Starts a program of PostgreSQL in an environment that holds none of our secrets; it gets `death` when we die. */
export function spawnAs(account: Account, command: string[], options: SpawnOptions, death: Death = 'KILL'): ChildProcess {
  if (!isMainThread) throw new Error('PostgreSQL must be started from the main thread: it would end together with a worker.')
  const [file = '', ...args] = [...parentDeath(death), ...command]
  return spawn(file, args, { env, windowsHide: true, ...account, ...options })
}

export type Outcome = { ok: boolean; output: string }

/** Runs a program to its end. A program that cannot be run at all is an outcome too. */
export function run(account: Account, command: string[], options: { cwd?: string; input?: string } = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    let output = ''
    const child = spawnAs(account, command, { cwd: options.cwd ?? '/', stdio: 'pipe' })
    const collect = (text: Buffer) => {
      output += text
    }
    child.stdout?.on('data', collect)
    child.stderr?.on('data', collect)
    child.stdin?.on('error', () => {}).end(options.input ?? '')
    child.on('error', (error) => resolve({ ok: false, output: error.message }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
}

let setpriv: boolean | undefined

/** Without a recent setpriv an orphan outlives us until the next start takes it over. */
function parentDeath(signal: Death): string[] {
  if (process.platform !== 'linux') return []
  setpriv ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', '--no-new-privs', 'true'], { env }).status === 0
  return setpriv ? ['setpriv', '--pdeathsig', signal, '--no-new-privs'] : []
}
