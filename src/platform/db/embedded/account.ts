import { type ChildProcess, type IOType, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
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
 * How a program started with `spawnAs` names its folder. Another account may not be allowed through the folders above; it
 * inherits the opened folder instead, so it needs no capability and can read nothing else of ours.
 */
export const folderAs = (account: Account, folder: string) => (account ? '/proc/self/fd/3' : folder)

const env = { LC_ALL: 'C' }

type Options = Pick<SpawnOptions, 'detached'> & { folder?: string | undefined; stdio: (IOType | number)[]; death?: 'INT' | 'KILL' }

/** Starts a program of PostgreSQL in an environment that holds none of our secrets; it gets the signal `death` when we die. */
export function spawnAs(account: Account, command: string[], { folder, stdio, death = 'KILL', ...options }: Options): ChildProcess {
  const [file = '', ...args] = [...parentDeath(death), ...command]
  const opened = account && folder ? [openSync(folder, 'r')] : []
  try {
    return spawn(file, args, { cwd: '/', env, windowsHide: true, ...account, ...options, stdio: [...stdio, ...opened] })
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

export type Outcome = { ok: boolean; output: string }

/** Runs a program to its end. A program that cannot be run at all is an outcome too. */
export function run(account: Account, command: string[], { input = '', folder }: { folder?: string; input?: string } = {}) {
  const outcome = new Promise<Outcome>((resolve, reject) => {
    let output = ''
    const child = spawnAs(account, command, { folder, stdio: ['pipe', 'pipe', 'pipe'] })
    const collect = (text: Buffer) => {
      output += text
    }
    child.stdout?.on('data', collect)
    child.stderr?.on('data', collect)
    child.stdin?.on('error', () => {}).end(input)
    child.on('error', reject)
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
  return outcome.catch((error: Error): Outcome => ({ ok: false, output: error.message }))
}

let setpriv: boolean | undefined

/** Without a recent setpriv an orphan outlives us until the next start takes it over. */
function parentDeath(signal: string): string[] {
  if (process.platform !== 'linux') return []
  setpriv ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', '--no-new-privs', 'true'], { env }).status === 0
  return setpriv ? ['setpriv', '--pdeathsig', signal, '--no-new-privs'] : []
}
