import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../../private-files.ts'
import { setupProblem } from '../../problem.ts'
import { type Account, folderAs, run } from './account.ts'
import type { Binaries } from './binaries.ts'
import type { ClusterPaths } from './files.ts'
import { hostBasedAccess } from './settings.ts'

type NewCluster = { places: ClusterPaths; account: Account; binaries: Binaries; password: string; sync: boolean }

/** Builds the cluster under another name and moves it into place whole, so that a crash leaves nothing half made. */
export async function createCluster(plan: NewCluster) {
  const { places, account } = plan
  if (fs.existsSync(places.cluster)) fs.rmdirSync(places.cluster)
  const folder = join(places.dataDir, `${halfMade}${randomBytes(6).toString('hex')}`)
  fs.mkdirSync(folder, { mode: 0o700 })
  if (account) fs.chownSync(folder, account.uid, account.gid)
  await initialise(plan, folder)
  await runSql(plan, folder, [...roleSql(plan.password), 'CREATE DATABASE assay OWNER assay'])
  fs.renameSync(folder, places.cluster)
  syncFolder(places.dataDir)
}

/** For a cluster whose password file was lost. */
export const resetPassword = (plan: NewCluster) => runSql(plan, plan.places.cluster, [`ALTER ROLE assay PASSWORD '${plan.password}'`])

/** The major version that wrote the cluster; undefined when there is none yet. */
export function clusterVersion({ cluster }: ClusterPaths): number | undefined {
  if (!fs.existsSync(cluster) || fs.readdirSync(cluster).length === 0) return undefined
  if (fs.existsSync(join(cluster, 'PG_VERSION'))) return Number.parseInt(fs.readFileSync(join(cluster, 'PG_VERSION'), 'utf8'), 10)
  throw setupProblem(`${cluster} holds something that is not a PostgreSQL cluster: move it away and start again.`)
}

/** A copy that was brought back by root, or with looser rights, becomes the server's own again. */
export function tidyRights({ cluster }: ClusterPaths, account: Account) {
  fs.chmodSync(cluster, 0o700)
  if (!account || fs.statSync(cluster).uid === account.uid) return
  for (const name of fs.readdirSync(cluster, { recursive: true, encoding: 'utf8' }))
    fs.lchownSync(join(cluster, name), account.uid, account.gid)
  fs.chownSync(cluster, account.uid, account.gid)
}

const halfMade = 'postgres.new-'

/** A process of a killed initdb may still write there; then the next start sweeps. */
export function removePartialCluster({ dataDir }: ClusterPaths) {
  for (const name of fs.readdirSync(dataDir).filter((name) => name.startsWith(halfMade)))
    try {
      fs.rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 })
    } catch {}
}

async function initialise({ account, binaries, sync }: NewCluster, folder: string) {
  const options = ['--username=postgres', '--auth=reject', '--encoding=UTF8', '--no-locale', ...(sync ? [] : ['--no-sync'])]
  const { ok, output } = await run(account, [binaries.initdb, '-D', folderAs(account, folder), ...options], { folder })
  if (!ok) throw setupProblem(`initdb could not make a PostgreSQL cluster: ${lastLines(output)}`)
  fs.writeFileSync(join(folder, 'pg_hba.conf'), hostBasedAccess)
}

/** In single-user mode each line is a statement, and a failed one does not change the exit status. */
async function runSql({ account, binaries, sync }: NewCluster, folder: string, statements: string[]) {
  const settings = ['-c', 'log_min_error_statement=panic', '-c', `fsync=${sync ? 'on' : 'off'}`]
  const command = [binaries.postgres, '--single', ...settings, '-D', folderAs(account, folder), 'postgres']
  const { ok, output } = await run(account, command, { folder, input: statements.map((sql) => `${sql};\n`).join('') })
  if (!ok || /\b(ERROR|FATAL|PANIC):/.test(output)) throw setupProblem(`PostgreSQL could not be prepared: ${lastLines(output)}`)
}

/** An owner, not a superuser: what a stolen connection can do ends at its own databases. */
const roleSql = (password: string) => [`CREATE ROLE assay LOGIN CREATEDB PASSWORD '${password}'`, 'GRANT pg_monitor TO assay']

export const lastLines = (text: string, count = 4) =>
  text
    .trim()
    .split(/\s*\n\s*/)
    .slice(-count)
    .join(' | ')
