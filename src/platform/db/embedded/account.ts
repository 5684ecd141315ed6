import { type ChildProcess, type IOType, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setupProblem } from '../../problem.ts'

/** The operating-system account that PostgreSQL runs as. Undefined means the account of this process. */
export type Account = { uid: number; gid: number } | undefined

const nobody = { uid: 65534, gid: 65534 }

/** System accounts for the database. The first one that exists is used. */
const names = ['assay', 'postgres']

/**
 * PostgreSQL refuses to run as root. Gap 391: an existing cluster keeps its owner, and a new one belongs to the owner of the data
 * folder, else to a dedicated account of the machine, else to nobody.
 */
export function chooseAccount(cluster: string, accounts?: SystemAccount[]): Account {
  if (process.getuid?.() !== 0) return checkOwner(cluster)
  if (process.platform !== 'linux')
    throw setupProblem('PostgreSQL refuses to run as root. Start Assay as an ordinary user, or set DATABASE_URL.')
  const owner = ownerOf(cluster)
  if (owner) return { uid: owner.uid, gid: owner.gid || nobody.gid }
  const known = accounts ?? systemAccounts(dirname(cluster))
  // PostgreSQL needs the name of its account. The group of a folder could be that of root.
  const { uid, gid } = known.find(({ uid }) => uid === ownerOf(dirname(cluster))?.uid) ?? dedicatedOf(known) ?? nobody
  return { uid, gid }
}

/** The command that gives a cluster of the shared account nobody an account of its own. Undefined for any other account. */
export function commandForOwnAccount(account: Account, cluster: string, accounts?: SystemAccount[]) {
  if (process.getuid?.() !== 0 || account?.uid !== nobody.uid) return undefined
  const existing = dedicatedOf(accounts ?? systemAccounts(dirname(cluster)))
  const create = existing ? '' : 'useradd --system --user-group --shell /usr/sbin/nologin assay && '
  return `${create}chown -R ${existing?.name ?? 'assay'}: '${cluster}'`
}

export type SystemAccount = { name: string; uid: number; gid: number }

/** The dedicated accounts and the owner of the folder, as far as they have a name. */
function systemAccounts(folder: string): SystemAccount[] {
  const { stdout, error } = spawnSync('getent', ['passwd', ...names, String(statSync(folder).uid)], { env, encoding: 'utf8' })
  const lines = (error ? readFileSync('/etc/passwd', 'utf8') : stdout).split('\n').map((line) => line.split(':'))
  return lines.map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
}

const dedicatedOf = (accounts: SystemAccount[]) =>
  names.map((name) => accounts.find((account) => account.name === name && account.uid > 0)).find((account) => account !== undefined)

/** The owner of a folder that exists and does not belong to root. */
function ownerOf(folder: string) {
  const owner = statSync(folder, { throwIfNoEntry: false })
  return owner?.uid ? owner : undefined
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
