import { type ChildProcess, type IOType, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { setupProblem } from '../../problem.ts'

/** The operating-system account that PostgreSQL runs as. Undefined means the account of this process. */
export type Account = { uid: number; gid: number } | undefined

const nobody = { uid: 65534, gid: 65534 }

/** PostgreSQL refuses to run as root. An existing cluster keeps its owner; a new one belongs to the account nobody. */
export function chooseAccount(cluster: string): Account {
  if (process.getuid?.() !== 0) return checkOwner(cluster)
  if (process.platform !== 'linux')
    throw setupProblem('PostgreSQL refuses to run as root. Start Assay as an ordinary user, or set DATABASE_URL.')
  const owner = existsSync(cluster) ? statSync(cluster) : nobody
  return owner.uid === 0 ? nobody : { uid: owner.uid, gid: owner.gid }
}

function checkOwner(cluster: string) {
  const uid = process.getuid?.()
  const owner = existsSync(cluster) ? statSync(cluster).uid : uid
  if (uid === undefined || owner === uid) return undefined
  throw setupProblem(`${cluster} belongs to uid ${owner}, but Assay runs as uid ${uid}. Start Assay as the user that owns the folder.`)
}

/**
 * The path under which a program started with `spawnAs` sees its folder. Another account may lack access to the parent
 * folders, so it inherits the opened folder and can read nothing else.
 */
export const folderAs = (account: Account, folder: string) => (account ? '/proc/self/fd/3' : folder)

const env = { LC_ALL: 'C' }

type Options = Pick<SpawnOptions, 'detached'> & {
  folder?: string | undefined
  stdio: (IOType | number)[]
  parentDeathSignal?: 'INT' | 'KILL'
}

/** Starts a PostgreSQL program without this process's environment, which holds secrets. The program gets a signal when this process dies. */
export function spawnAs(
  account: Account,
  command: string[],
  { folder, stdio, parentDeathSignal = 'KILL', ...options }: Options,
): ChildProcess {
  const [file = '', ...args] = [...parentDeathCommand(parentDeathSignal), ...command]
  const opened = account && folder ? [openSync(folder, 'r')] : []
  try {
    return spawn(file, args, { cwd: '/', env, windowsHide: true, ...account, ...options, stdio: [...stdio, ...opened] })
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

type Outcome = { ok: boolean; output: string }

/** Runs a program to its end. If it cannot be started, the outcome says so. */
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

// A property of the machine, so one probe per process is enough.
let hasSetpriv: boolean | undefined

/** Without a recent setpriv, PostgreSQL outlives a killed process until the next start stops it. */
function parentDeathCommand(signal: string): string[] {
  if (process.platform !== 'linux') return []
  hasSetpriv ??= spawnSync('setpriv', ['--pdeathsig', 'KILL', '--no-new-privs', 'true'], { env }).status === 0
  return hasSetpriv ? ['setpriv', '--pdeathsig', signal, '--no-new-privs'] : []
}
