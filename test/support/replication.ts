import * as fs from 'node:fs'
import { join, sep } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { type Access, readAccess, storeAccess, urlOf } from '../../src/platform/db/embedded/access.ts'
import { type Account, chooseAccount } from '../../src/platform/db/embedded/account.ts'
import { type Binaries, findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { clusterVersion, createCluster, restorePermissions, runSql } from '../../src/platform/db/embedded/cluster.ts'
import { type ClusterPaths, clusterPaths } from '../../src/platform/db/embedded/files.ts'
import { clearLeftovers, serversIn } from '../../src/platform/db/embedded/leftovers.ts'
import { launch } from '../../src/platform/db/embedded/server.ts'
import { createPrivateFolder } from '../../src/platform/private-files.ts'
import type { Supervised } from '../../src/platform/runtime/supervise.ts'
import { query } from './databases.ts'
import { reservePorts } from './ports.ts'
import { CONNECTION_POLL_MS, eventually, TIMEOUT_MS } from './process.ts'

/** A server of the pair, running or not. */
type Member = { paths: ClusterPaths; access: Access; server?: Supervised }

type Pair = { account: Account; binaries: Binaries; members: [Member, Member]; settings: Record<string, string> }

type Options = {
  /** False saves time where only processes are killed: the operating system keeps their writes. */
  sync?: boolean
}

type StandbyOptions = {
  /** Whether a commit waits until the standby has it on disk. */
  isSynchronous: boolean
  /** The port through which the standby reaches the primary. */
  via?: number
}

export type Replication = Awaited<ReturnType<typeof openReplication>>

const OPERATOR = 'operator'

/**
 * A primary in the data folder, and a second server that can become its standby, then its successor, and so on in turns.
 * The addresses of both stay the same.
 */
export async function openReplication(dataDir: string, { sync = true }: Options = {}) {
  const pair = await preparePair(dataDir, sync)
  const [first, second] = pair.members
  let [primary, standby] = [first, second]
  await start(pair, primary)
  return {
    /** The current primary. */
    url: () => urlOf(primary.paths, primary.access),
    standbyUrl: () => urlOf(standby.paths, standby.access),
    /** Both servers, for a client that looks for the one that accepts writes. */
    hostsUrl: urlOf(first.paths, first.access).replace(`:${first.access.port}/`, `:${first.access.port},127.0.0.1:${second.access.port}/`),
    /** Copies the primary and starts the copy as its standby. */
    async startStandby({ isSynchronous, via }: StandbyOptions) {
      await kill(standby)
      await copyBackup(pair, primary, standby)
      await start(pair, standby, { primary_conninfo: connectionInfo(primary.access, via) })
      await waitForState(primary, "state = 'streaming'")
      if (!isSynchronous) return
      await operate(primary, "alter system set synchronous_standby_names = '*'")
      await operate(primary, 'select pg_reload_conf()')
      await waitForState(primary, "sync_state = 'sync'")
    },
    /** Sends a signal to every process of the primary. */
    signalPrimary: (signal: NodeJS.Signals) => signalAll(primary, signal),
    /** Stops the primary in order, as before maintenance. The standby gets everything that was committed. */
    stopPrimary: async () => primary.server?.stop(),
    /** Makes the standby the primary. */
    async promote() {
      await operate(standby, 'select pg_promote()')
      ;[primary, standby] = [standby, primary]
    },
    /** Kills the standby, or what is left of the server that was the primary before. */
    endStandby: () => kill(standby),
    /** The standby receives changes but does not apply them. */
    async pauseReplay() {
      await operate(standby, 'select pg_wal_replay_pause()')
      const isPaused = "select from pg_get_wal_replay_pause_state() as state where state = 'paused'"
      await eventually(async () => (await operate(standby, isPaused)).length, TIMEOUT_MS, CONNECTION_POLL_MS)
    },
    resumeReplay: () => operate(standby, 'select pg_wal_replay_resume()'),
    async stop() {
      for (const member of pair.members) await kill(member)
      fs.rmSync(second.paths.dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const silent = pino({ level: 'silent' })

async function preparePair(dataDir: string, sync: boolean): Promise<Pair> {
  const folders = [clusterPaths(dataDir), clusterPaths(`${dataDir}-second`)] as const
  for (const paths of folders) createPrivateFolder(paths.dataDir)
  const [paths] = folders
  const account = chooseAccount(paths.cluster)
  const binaries = await findBinaries({ account, dataDir, preferred: clusterVersion(paths) })
  const stored = readAccess(paths)
  const password = stored?.password ?? '0123456789abcdef'
  const plan = { paths, account, binaries, password, sync }
  if (!stored) await createCluster(plan, [])
  storeAccess(paths, { password })
  await runSql(plan, paths.cluster, ['ALTER ROLE assay REPLICATION', `CREATE ROLE ${OPERATOR} SUPERUSER LOGIN PASSWORD '${password}'`])
  const rules = ['all assay', 'replication assay', `postgres ${OPERATOR}`].map((who) => `host ${who} 127.0.0.1/32 scram-sha-256\n`)
  fs.writeFileSync(join(paths.cluster, 'pg_hba.conf'), rules.join(''))
  const [one, two] = (await reservePorts(2)) as [number, number]
  return {
    account,
    binaries,
    members: [
      { paths: folders[0], access: { password, port: one } },
      { paths: folders[1], access: { password, port: two } },
    ],
    settings: { wal_keep_size: '1GB', max_connections: '150', ...(sync ? {} : { fsync: 'off' }) },
  }
}

async function start({ account, binaries, settings }: Pair, member: Member, more: Record<string, string> = {}) {
  const { paths, access } = member
  member.server = await launch({ paths, account, binaries, access, settings: { ...settings, ...more } }, new AbortController().signal)
}

function signalAll({ paths, server }: Member, signal: NodeJS.Signals) {
  const pids = new Set([...(server ? [server.pid] : []), ...serversIn(paths.cluster)])
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch {} // the process has already ended
}

async function kill(member: Member) {
  signalAll(member, 'SIGKILL')
  await clearLeftovers(member.paths.cluster, silent)
}

const connectionInfo = ({ password, port }: Access, via = port) => `host=127.0.0.1 port=${via} user=assay password=${password}`

/** The server for the superuser. */
function operatorUrl({ paths, access }: Member) {
  const url = new URL(urlOf(paths, access))
  url.username = OPERATOR
  url.pathname = '/postgres'
  return url.href
}

const operate = (member: Member, sql: string) => query(operatorUrl(member), sql)

const waitForState = (primary: Member, state: string) =>
  eventually(async () => (await operate(primary, `select from pg_stat_replication where ${state}`)).length, TIMEOUT_MS, CONNECTION_POLL_MS)

/** The files of a server that its copy creates itself or streams from the primary. */
const ownFiles =
  /^(postmaster\.(pid|opts)|standby\.signal|(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/.*)$/

/** Copies a running server. The files are consistent with the log between start and stop of the backup, which the standby replays. */
async function copyBackup({ account }: Pair, from: Member, to: Member) {
  const session = new pg.Client({ connectionString: operatorUrl(from) })
  await session.connect()
  try {
    await session.query("select pg_backup_start('standby', true)")
    fs.rmSync(to.paths.cluster, { recursive: true, force: true, maxRetries: 5 })
    copyFiles(from.paths.cluster, to.paths.cluster)
    const { rows } = await session.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    fs.writeFileSync(join(to.paths.cluster, 'backup_label'), rows[0]?.labelfile as string)
    fs.writeFileSync(join(to.paths.cluster, 'standby.signal'), '')
    restorePermissions(to.paths, account)
  } finally {
    await session.end()
  }
}

function copyFiles(from: string, to: string) {
  fs.mkdirSync(to, { mode: 0o700 })
  for (const entry of fs.readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(from.length + 1).replaceAll(sep, '/')
    if (entry.isDirectory()) fs.mkdirSync(join(to, name), { recursive: true, mode: 0o700 })
    else if (entry.isFile() && !ownFiles.test(name)) copyIfPresent(path, join(to, name))
  }
}

/** A server removes files while they are copied. */
function copyIfPresent(from: string, to: string) {
  try {
    fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
