import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../../private-files.ts'
import { setupProblem } from '../../problem.ts'
import { type Account, folderAs, run } from './account.ts'
import type { Binaries } from './binaries.ts'
import type { ClusterPaths } from './files.ts'
import { hostBasedAccess } from './settings.ts'

type NewCluster = { paths: ClusterPaths; account: Account; binaries: Binaries; password: string; sync: boolean }

/** Builds the cluster under a temporary name and renames it, so a crash never leaves a partial cluster in place. */
export async function createCluster(plan: NewCluster, superuserSql: string[]) {
  const { paths, account } = plan
  if (fs.existsSync(paths.cluster)) fs.rmdirSync(paths.cluster)
  const folder = join(paths.dataDir, `${partialPrefix}${randomBytes(6).toString('hex')}`)
  fs.mkdirSync(folder, { mode: 0o700 })
  if (account) fs.chownSync(folder, account.uid, account.gid)
  await runInitdb(plan, folder)
  await runSql(plan, folder, [...roleSql(plan.password), 'CREATE DATABASE assay OWNER assay', ...superuserSql])
  fs.renameSync(folder, paths.cluster)
  syncFolder(paths.dataDir)
}

/** Sets a new password for a cluster whose password file is missing. */
export const resetPassword = (plan: NewCluster) => runSql(plan, plan.paths.cluster, [`ALTER ROLE assay PASSWORD '${plan.password}'`])

/** Returns the major version that wrote the cluster, or undefined if there is no cluster. */
export function clusterVersion({ cluster }: ClusterPaths): number | undefined {
  if (!fs.existsSync(cluster) || fs.readdirSync(cluster).length === 0) return undefined
  if (fs.existsSync(join(cluster, 'PG_VERSION'))) return Number.parseInt(fs.readFileSync(join(cluster, 'PG_VERSION'), 'utf8'), 10)
  throw setupProblem(`${cluster} is not a PostgreSQL cluster. Move the folder away and restart.`)
}

/** Restores owner and mode of a cluster that was copied back by root or with other permissions. */
export function restorePermissions({ cluster }: ClusterPaths, account: Account) {
  fs.chmodSync(cluster, 0o700)
  if (!account || fs.statSync(cluster).uid === account.uid) return
  for (const name of fs.readdirSync(cluster, { recursive: true, encoding: 'utf8' }))
    fs.lchownSync(join(cluster, name), account.uid, account.gid)
  fs.chownSync(cluster, account.uid, account.gid)
}

const partialPrefix = 'postgres.new-'

/** A killed initdb may still be writing, so a failed removal is left to the next start. */
export function removePartialCluster({ dataDir }: ClusterPaths) {
  for (const name of fs.readdirSync(dataDir).filter((name) => name.startsWith(partialPrefix)))
    try {
      fs.rmSync(join(dataDir, name), { recursive: true, force: true, maxRetries: 3 })
    } catch {}
}

async function runInitdb({ account, binaries, sync }: NewCluster, folder: string) {
  const options = ['--username=postgres', '--auth=reject', '--encoding=UTF8', '--no-locale', ...(sync ? [] : ['--no-sync'])]
  const { ok, output } = await run(account, [binaries.initdb, '-D', folderAs(account, folder), ...options], { folder })
  if (!ok) throw setupProblem(`initdb could not create a PostgreSQL cluster: ${lastLines(output)}`)
  fs.writeFileSync(join(folder, 'pg_hba.conf'), hostBasedAccess)
}

/** Runs statements as the superuser while no server runs. Each line is a statement, and a failed one does not change the exit status. */
export async function runSql({ account, binaries, sync }: NewCluster, folder: string, statements: string[]) {
  const settings = ['-c', 'log_min_error_statement=panic', '-c', `fsync=${sync ? 'on' : 'off'}`]
  const command = [binaries.postgres, '--single', ...settings, '-D', folderAs(account, folder), 'postgres']
  const { ok, output } = await run(account, command, { folder, input: statements.map((sql) => `${sql};\n`).join('') })
  if (!ok || /\b(ERROR|FATAL|PANIC):/.test(output)) throw setupProblem(`PostgreSQL could not be prepared: ${lastLines(output)}`)
}

/** The role owns its database and is not a superuser, which limits what a stolen connection can do. */
const roleSql = (password: string) => [`CREATE ROLE assay LOGIN CREATEDB PASSWORD '${password}'`, 'GRANT pg_monitor TO assay']

export const lastLines = (text: string) =>
  text
    .trim()
    .split(/\s*\n\s*/)
    .slice(-4)
    .join(' | ')
