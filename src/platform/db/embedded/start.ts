import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import type { Logger } from 'pino'
import { createPrivateFolder } from '../../private-files.ts'
import { setupProblem } from '../../problem.ts'
import { supervise } from '../../runtime/supervise.ts'
import { chooseAccess, readAccess, storeAccess, urlOf } from './access.ts'
import { chooseAccount, commandForOwnAccount } from './account.ts'
import { findBinaries } from './binaries.ts'
import { clusterVersion, createCluster, removePartialCluster, resetPassword, restorePermissions } from './cluster.ts'
import { type ClusterPaths, clusterPaths } from './files.ts'
import { clearLeftovers } from './leftovers.ts'
import { acquireLock, holderOf, type Lock, type Role } from './lock.ts'
import { launch, type Plan, rotateLog, tryConnect } from './server.ts'

export type Embedded = { url: string; stop(): Promise<void> }

/** For tests: further PostgreSQL settings, such as `fsync: 'off'`, and statements that the superuser runs in a new cluster. */
export type EmbeddedOptions = { dataDir: string; log: Logger; settings?: Record<string, string>; superuserSql?: string[] }

/** Runs PostgreSQL in `dataDir` until stop(). Only one process at a time may do so. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const paths = prepareDataDir(options)
  return (await startWithLock(paths, options, 'service')) ?? throwInUse(paths)
}

/** For CLI commands: uses the server of a running service, or starts one for the duration of the command. */
export async function borrowEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const paths = prepareDataDir(options)
  const deadline = performance.now() + 60_000
  while (performance.now() < deadline) {
    const embedded = (await startWithLock(paths, options, 'command')) ?? (await useRunning(paths))
    if (embedded) return embedded
    await sleep(50)
  }
  return throwInUse(paths)
}

export const hasCluster = (dataDir: string) => existsSync(clusterPaths(resolve(dataDir)).cluster)

function prepareDataDir({ dataDir }: EmbeddedOptions) {
  if (!isMainThread) throw new Error('PostgreSQL must be started from the main thread, because it would end together with a worker.')
  const paths = clusterPaths(resolve(dataDir))
  createPrivateFolder(paths.dataDir)
  return paths
}

async function startWithLock(paths: ClusterPaths, options: EmbeddedOptions, role: Role) {
  const lock = await acquireLock(paths.lock, role)
  if (!lock) return undefined
  try {
    return await startLocked(paths, options, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function startLocked(paths: ClusterPaths, { log, settings, superuserSql }: EmbeddedOptions, lock: Lock): Promise<Embedded> {
  const startedAt = performance.now()
  await clearLeftovers(paths.cluster, log)
  const plan = { ...(await prepareCluster(paths, settings, superuserSql)), settings }
  const command = commandForOwnAccount(plan.account, paths.cluster)
  if (command) log.warn({ command }, 'PostgreSQL runs as nobody, which other programs can use too; stop Assay and run the command')
  rotateLog(paths)
  const relaunch = async (signal: AbortSignal) => {
    await clearLeftovers(paths.cluster, log)
    return launch(plan, signal)
  }
  const supervised = await supervise(relaunch, { name: 'PostgreSQL', log })
  log.info({ cluster: paths.cluster, ms: Math.round(performance.now() - startedAt) }, 'PostgreSQL started')
  let stopped: Promise<void> | undefined
  return {
    url: urlOf(paths, plan.access),
    stop() {
      stopped ??= supervised.stop().finally(() => lock.release())
      return stopped
    },
  }
}

async function prepareCluster(paths: ClusterPaths, settings: EmbeddedOptions['settings'], superuserSql: string[] = []): Promise<Plan> {
  removePartialCluster(paths)
  const account = chooseAccount(paths.cluster)
  const version = clusterVersion(paths)
  const binaries = await findBinaries({ account, dataDir: paths.dataDir, preferred: version })
  if (version !== undefined && version !== binaries.major) throw versionMismatch(paths, version, binaries.major)
  const stored = readAccess(paths)
  const access = await chooseAccess(paths, stored)
  const plan = { paths, account, binaries, password: access.password, sync: settings?.fsync !== 'off' }
  if (version === undefined) await createCluster(plan, superuserSql)
  restorePermissions(paths, account)
  if (version !== undefined && !stored) await resetPassword(plan)
  storeAccess(paths, access)
  return { paths, account, binaries, access }
}

async function useRunning(paths: ClusterPaths): Promise<Embedded | undefined> {
  const access = readAccess(paths)
  // The server of another command stops with that command, so this one waits instead of using it.
  if (!access || holderOf(paths.lock)?.role !== 'service') return undefined
  const url = urlOf(paths, access)
  return (await tryConnect(url)) ? undefined : { url, stop: async () => {} }
}

/** A busy machine may stop the holder for a while between taking the lock and writing its pid. */
const HOLDER_WAIT_MS = 10_000

async function throwInUse(paths: ClusterPaths): Promise<never> {
  const deadline = performance.now() + HOLDER_WAIT_MS
  while (!holderOf(paths.lock) && performance.now() < deadline) await sleep(10)
  throw setupProblem(
    `The database in ${paths.dataDir} is in use by process ${holderOf(paths.lock)?.pid ?? '(unknown)'}. Stop that process, or choose another DATA_DIR.`,
  )
}

const versionMismatch = ({ cluster, dataDir }: ClusterPaths, written: number, ours: number) =>
  setupProblem(
    `${cluster} was written by PostgreSQL ${written}, but this version of Assay runs PostgreSQL ${ours}. Back up with the previous version of Assay, move ${cluster} out of ${dataDir}, and restore the backup with this version.`,
  )
