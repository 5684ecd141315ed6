import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import type { Logger } from 'pino'
import { makePrivateFolder } from '../../private-files.ts'
import { setupProblem } from '../../problem.ts'
import { chooseAccess, keepAccess, readAccess, urlOf } from './access.ts'
import { chooseAccount } from './account.ts'
import { findBinaries } from './binaries.ts'
import { clusterVersion, createCluster, removePartialCluster, resetPassword, tidyRights } from './cluster.ts'
import { type ClusterPaths, clusterPaths } from './files.ts'
import { clearLeftovers } from './leftovers.ts'
import { holderOf, type Lock, type Role, takeLock } from './lock.ts'
import { ask, launch, type Plan, rotateLog } from './server.ts'
import { supervise } from './supervise.ts'

export type Embedded = { url: string; stop(): Promise<void> }

/** `settings` are further PostgreSQL settings, such as `fsync: 'off'` for tests. */
export type EmbeddedOptions = { dataDir: string; log: Logger; settings?: Record<string, string> }

/** Runs our own PostgreSQL in `dataDir` until stop(). Only one process at a time may do so. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const places = prepare(options)
  return (await startHolding(places, options, 'service')) ?? refuse(places)
}

/** For CLI commands: the server that a running service keeps in `dataDir`, or one of our own for the duration. */
export async function borrowEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const places = prepare(options)
  const deadline = performance.now() + 60_000
  while (performance.now() < deadline) {
    const found = (await startHolding(places, options, 'command')) ?? (await useRunning(places))
    if (found) return found
    await sleep(50)
  }
  return refuse(places)
}

/** Whether a cluster was ever made there. */
export const hasCluster = (dataDir: string) => existsSync(clusterPaths(resolve(dataDir)).cluster)

function prepare({ dataDir }: EmbeddedOptions) {
  if (!isMainThread) throw new Error('PostgreSQL must be started from the main thread: it would end together with a worker.')
  const places = clusterPaths(resolve(dataDir))
  makePrivateFolder(places.dataDir)
  return places
}

async function startHolding(places: ClusterPaths, options: EmbeddedOptions, role: Role) {
  const lock = await takeLock(places.lock, role)
  if (!lock) return undefined
  try {
    return await startLocked(places, options, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function startLocked(places: ClusterPaths, { log, settings }: EmbeddedOptions, lock: Lock): Promise<Embedded> {
  const startedAt = performance.now()
  await clearLeftovers(places.cluster, log)
  const plan = { ...(await prepareCluster(places, settings)), settings }
  rotateLog(places)
  const supervised = await supervise(async (signal) => {
    await clearLeftovers(places.cluster, log)
    return launch(plan, signal)
  }, log)
  log.info({ cluster: places.cluster, ms: Math.round(performance.now() - startedAt) }, 'PostgreSQL is ready')
  let stopped: Promise<void> | undefined
  return {
    url: urlOf(places, plan.access),
    stop() {
      stopped ??= supervised.stop().finally(() => lock.release())
      return stopped
    },
  }
}

async function prepareCluster(places: ClusterPaths, settings: EmbeddedOptions['settings']): Promise<Plan> {
  removePartialCluster(places)
  const account = chooseAccount(places.cluster)
  const version = clusterVersion(places)
  const binaries = await findBinaries({ account, dataDir: places.dataDir, wanted: version })
  if (version !== undefined && version !== binaries.major) throw otherVersion(places, version, binaries.major)
  const known = readAccess(places)
  const access = await chooseAccess(places, known)
  const plan = { places, account, binaries, password: access.password, sync: settings?.fsync !== 'off' }
  if (version === undefined) await createCluster(plan)
  tidyRights(places, account)
  if (version !== undefined && !known) await resetPassword(plan)
  keepAccess(places, access)
  return { places, account, binaries, access }
}

async function useRunning(places: ClusterPaths): Promise<Embedded | undefined> {
  const access = readAccess(places)
  // A command stops its server when it is done, perhaps under us: wait for it to end.
  if (!access || holderOf(places.lock)?.role !== 'service') return undefined
  const url = urlOf(places, access)
  return (await ask(url)) ? undefined : { url, stop: async () => {} }
}

async function refuse(places: ClusterPaths): Promise<never> {
  const deadline = performance.now() + 500
  while (!holderOf(places.lock) && performance.now() < deadline) await sleep(10)
  throw setupProblem(
    `The database in ${places.dataDir} is in use by process ${holderOf(places.lock)?.pid ?? '(unknown)'}: stop that process or choose another DATA_DIR.`,
  )
}

const otherVersion = ({ cluster, dataDir }: ClusterPaths, found: number, ours: number) =>
  setupProblem(
    `${cluster} was written by PostgreSQL ${found} and this Assay runs PostgreSQL ${ours}. Start the Assay version that wrote it, export the database with COPY or pg_dump of version ${found}, stop it, move ${cluster} out of ${dataDir}, start this version and import.`,
  )
