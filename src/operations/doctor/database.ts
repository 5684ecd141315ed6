import { connect } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { pino } from 'pino'
import { listSomeUrls } from '../../delivery/webhooks/endpoints.ts'
import { orderFlow } from '../../labs/order-flow/order-flow.ts'
import { type App, appOf, newService } from '../../platform/app.ts'
import { type Config, deploymentOf } from '../../platform/config.ts'
import { describeHosts, type HostState, urlsOfHosts } from '../../platform/db/connections/hosts.ts'
import { checkPooler } from '../../platform/db/connections/pooler.ts'
import { MAX_STALENESS_MS, readBeat } from '../../platform/db/connections/replica.ts'
import type { Database } from '../../platform/db/open.ts'
import { pendingMigrations } from '../../platform/db/schema/migrate.ts'
import { setupProblem } from '../../platform/problem.ts'
import { countProcesses } from '../../platform/runtime/process-count.ts'
import { canDisableAuditTriggers } from '../../tenants/audit/owner/actions.ts'
import { checkAudit } from '../../tenants/audit/verification.ts'
import { describeCluster, isClustered } from '../cluster/actions.ts'
import { findDeployment, identityOf, openVault } from '../deployment/actions.ts'
import { checkDatabase, checkDeployment } from '../deployment/rules.ts'
import { countEpochs, findLostTeams } from '../epochs/actions.ts'
import type { Finding, RunCheck } from './finding.ts'
import { checkLogs, countWaitingCommits, findOutboxAge, inspectServer, type Server, withDatabase } from './store.ts'

/** The checks only read. They end at an outdated or foreign schema, which the remaining checks cannot read. */
export async function databaseChecks(config: Config, database: Database, quick: boolean, runCheck: RunCheck) {
  const server = await inspectServer(database)
  const hosts = config.DATABASE_URL ? urlsOfHosts(config.DATABASE_URL) : []
  const results = [
    await runCheck('database', () => serverFinding(config, server)),
    await runCheck('clock', () => clockFinding(server)),
    await runCheck('connections', () => connectionFinding(config, server)),
    ...(server.pooled ? [await runCheck('pooler', () => poolerFinding(database))] : []),
    ...(hosts.length > 1 ? [await runCheck('hosts', async () => hostsFinding(await describeHosts(hosts)))] : []),
    await runCheck('standby', async () => standbyFinding(await countWaitingCommits(database))),
    await runCheck('schema', () => schemaFinding(database)),
  ]
  if (results.at(-1)?.finding.state !== 'ok') return results
  const key = await runCheck('encryption key', async () => keyFinding(config, database))
  results.push(key, await runCheck('jobs', async () => jobsFinding(await findOutboxAge(database))))
  results.push(await runCheck('event logs', async () => logsFinding(await checkLogs(database))))
  if (await isClustered(database.db)) results.push(await runCheck('shards', async () => shardsFinding(await describeCluster(database.db))))
  const { DIRECT_DATABASE_URL, READ_DATABASE_URL } = config
  if (DIRECT_DATABASE_URL) results.push(await runCheck('direct database', () => directFinding(DIRECT_DATABASE_URL, database)))
  if (READ_DATABASE_URL) results.push(await runCheck('read replica', () => replicaFinding(READ_DATABASE_URL, database)))
  const skipped: Finding = { state: 'skipped', text: 'not checked' }
  const app = key.finding.state === 'ok' && !quick ? await appFor(config, database) : undefined
  results.push(await runCheck('webhooks', async () => (app ? reachabilityFinding(await listSomeUrls(app, 5)) : skipped)))
  const epochs = app && (await countEpochs(app))
  if (app && epochs?.epochs) results.push(await runCheck('epoch keys', async () => epochsFinding(epochs, await findLostTeams(app))))
  results.push(await runCheck('audit owner', () => auditOwnerFinding(config, database)))
  results.push(await runCheck('audit chain', async () => (app ? auditFinding(app) : skipped)))
  return results
}

function serverFinding({ DATABASE_URL, ENVIRONMENT }: Config, { version, fsync }: Server): Finding {
  const isProduction = ENVIRONMENT === 'production'
  const text = `PostgreSQL ${version}${DATABASE_URL ? '' : ', embedded'}${fsync ? '' : ', without fsync'}`
  if (!fsync) return { state: isProduction ? 'wrong' : 'warning', text, remedy: 'set fsync = on; without it a power failure loses data' }
  if (!DATABASE_URL && isProduction) return { state: 'warning', text, remedy: 'set DATABASE_URL to a PostgreSQL server with backups' }
  return { state: 'ok', text }
}

function epochsFinding({ epochs, overdue }: { epochs: number; overdue: number }, lost: string[]): Finding {
  const text = `${epochs} in use or in escrow`
  if (lost.length) {
    const remedy = 'check VAULT_TRANSIT_URL, its token and policy; a backup older than the escrow cannot be opened anymore'
    return { state: 'wrong', text: `Vault does not open the epochs of ${lost.length} teams`, remedy }
  }
  if (overdue)
    return {
      state: 'warning',
      text: `${text}, ${overdue} should be destroyed by now`,
      remedy: 'look for "epoch not rotated" in the log of the worker',
    }
  return { state: 'ok', text }
}

function clockFinding({ skew_ms }: Server): Finding {
  const text = `the database is ${Math.abs(skew_ms)} ms ${skew_ms < 0 ? 'behind' : 'ahead'}`
  if (Math.abs(skew_ms) < 2000) return { state: 'ok', text }
  const remedy = 'run NTP on both machines; leases, signatures and tokens depend on the clock'
  return { state: Math.abs(skew_ms) < 30_000 ? 'warning' : 'wrong', text, remedy }
}

function connectionFinding(config: Config, { max_connections, reserved, connected, pooled }: Server): Finding {
  const { DATABASE_POOL_SIZE: size } = config
  const needed = countProcesses(config) * size
  const available = max_connections - reserved
  if (pooled) return { state: 'ok', text: `${connected} of ${available} in use; each process opens up to ${size} to the pooler` }
  const text = `${connected} of ${available} in use; each process uses up to ${size}, the service up to ${needed}`
  if (size > available)
    return {
      state: 'wrong',
      text,
      remedy: `set DATABASE_POOL_SIZE to at most ${Math.max(2, Math.floor(available / 2))}, or raise max_connections`,
    }
  if (needed > available) return { state: 'warning', text, remedy: 'lower PROCESSES or DATABASE_POOL_SIZE, or raise max_connections' }
  if (connected + size > available)
    return { state: 'warning', text, remedy: 'there are too few for one more process; lower DATABASE_POOL_SIZE or raise max_connections' }
  return { state: 'ok', text }
}

async function poolerFinding({ pool }: Database): Promise<Finding> {
  await checkPooler(pool)
  return { state: 'ok', text: 'supports transactions and prepared statements' }
}

/** A failover needs the other hosts, so a wrong name is reported before it happens. */
export function hostsFinding(hosts: HostState[]): Finding {
  const text = hosts.map(({ host, state }) => `${host} is ${state === 'unreachable' ? 'unreachable' : `a ${state}`}`).join(', ')
  if (hosts.filter(({ state }) => state === 'primary').length > 1)
    return { state: 'wrong', text, remedy: 'stop the one that was replaced: what is written there is lost' }
  if (hosts.some(({ state }) => state === 'unreachable'))
    return { state: 'warning', text, remedy: 'check its name in DATABASE_URL and that it is running; Assay cannot use it after a failover' }
  return { state: 'ok', text }
}

function standbyFinding(commits: number): Finding {
  if (!commits) return { state: 'ok', text: 'no commit waits for a standby' }
  const remedy = 'start a synchronous standby, or remove it from synchronous_standby_names; until then all requests wait'
  return { state: 'wrong', text: `${commits} commits wait for a synchronous standby`, remedy }
}

async function schemaFinding({ pool }: Database): Promise<Finding> {
  const { missing } = await pendingMigrations(pool)
  if (!missing.length) return { state: 'ok', text: 'up to date' }
  return { state: 'wrong', text: `${missing.length} migrations are pending`, remedy: 'run assay migrate, or start the service' }
}

async function keyFinding(config: Config, { db }: Database): Promise<Finding> {
  const deployment = await findDeployment(db)
  if (!deployment)
    return { state: 'warning', text: 'the database is empty', remedy: 'start the service, or run assay bootstrap in production' }
  checkDeployment(deployment, deploymentOf(config))
  const vault = await openVault(config, db)
  checkDatabase(deployment, identityOf({ config, vault }))
  const [{ name }] = vault.keyEncryption.keys
  const others = vault.roots.map(({ wrappedBy }) => wrappedBy).filter((wrappedBy) => wrappedBy !== name)
  if (!others.length) return { state: 'ok', text: 'matches this database' }
  const remedy = `run assay keys rotate-encryption, which encrypts the root secret with ${settingOf(name)}`
  return { state: 'warning', text: `the database still needs the earlier ${settingOf(others[0] as string)}`, remedy }
}

/** The name of a key-encryption key begins with its setting. */
const settingOf = (name: string) => name.split(' ')[0] as string

/** Another database may have no such table. */
const readDeployment = ({ db }: Database) => findDeployment(db).catch(() => undefined)

const isSameDatabase = async (one: Database, other: Database) => isDeepStrictEqual(await readDeployment(one), await readDeployment(other))

const directFinding = (url: string, database: Database) =>
  withDatabase('DIRECT_DATABASE_URL', url, async (direct): Promise<Finding> => {
    const remedy = 'set DIRECT_DATABASE_URL to the database itself; until then a message from another machine can wait up to two seconds'
    if ((await inspectServer(direct)).pooled) return { state: 'warning', text: 'leads through a pooler', remedy }
    if (!(await isSameDatabase(direct, database))) return { state: 'wrong', text: 'is another database', remedy }
    return { state: 'ok', text: 'reached without a pooler' }
  })

const replicaFinding = (url: string, database: Database) =>
  withDatabase('READ_DATABASE_URL', url, async (replica): Promise<Finding> => {
    const unused = 'until then everything reads from the primary'
    if (!(await isSameDatabase(replica, database)))
      return { state: 'wrong', text: 'is a copy of another database', remedy: `set READ_DATABASE_URL to a replica; ${unused}` }
    const behind = ((await readBeat(database.db))?.ms ?? 0) - ((await readBeat(replica.db))?.ms ?? 0)
    const text = `${Math.max(0, Math.round(behind / 1000))} s behind the primary`
    if (behind <= MAX_STALENESS_MS) return { state: 'ok', text }
    return { state: 'warning', text, remedy: `check the replication; ${unused}` }
  })

function jobsFinding(seconds: number): Finding {
  if (seconds < 60) return { state: 'ok', text: 'events are processed without delay' }
  const remedy = 'start a process with ROLE all or worker, or check its log'
  return { state: 'warning', text: `an event has been pending for ${Math.round(seconds)} s`, remedy }
}

export function logsFinding({ ahead, repeated }: Awaited<ReturnType<typeof checkLogs>>): Finding {
  if (repeated)
    return {
      state: 'wrong',
      text: `repeated positions in event logs: ${repeated}`,
      remedy: 'restore a backup; the rows were changed by hand',
    }
  if (ahead)
    return {
      state: 'warning',
      text: `the time of ${ahead} event logs is ahead of the clock`,
      remedy: 'check the clock of the database server; new events get the time of the last one until the clock has passed it',
    }
  return { state: 'ok', text: 'positions and times follow each other' }
}

type Cluster = Awaited<ReturnType<typeof describeCluster>>

/** Servers are balanced if the largest has at most this many times the data of the smallest. */
const MAX_IMBALANCE = 2
/** Smaller differences do not matter. */
const MIN_IMBALANCE_BYTES = 1024 ** 3

export function shardsFinding({ servers, teams }: Cluster): Finding {
  const shown = servers.map(({ server, shards, bytes }) => `${server} has ${shards} shards with ${Math.ceil(bytes / 1024 ** 2)} MiB`)
  const largest = teams.map(({ team_id, events }) => `${team_id} (${events} events)`)
  const text = [shown.join(', '), ...(largest.length ? [`largest teams: ${largest.join(', ')}`] : [])].join('; ')
  const sizes = servers.map(({ bytes }) => bytes)
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
  if (most - least < MIN_IMBALANCE_BYTES || most < MAX_IMBALANCE * least) return { state: 'ok', text }
  return { state: 'warning', text, remedy: 'run SELECT citus_rebalance_start(), or move a large team with assay team move' }
}

async function reachabilityFinding(urls: string[]): Promise<Finding> {
  if (!urls.length) return { state: 'skipped', text: 'no enabled webhooks' }
  const hosts = [...new Set(urls.map((url) => new URL(url).host))]
  const unreachable = (await Promise.all(urls.map(async (url) => ((await isReachable(new URL(url))) ? [] : [new URL(url).host])))).flat()
  if (!unreachable.length) return { state: 'ok', text: `${hosts.join(', ')} can be reached from here` }
  const remedy = 'check DNS and the firewall of this machine; messages to the receiver stay pending'
  return { state: 'warning', text: `${[...new Set(unreachable)].join(', ')} cannot be reached from here`, remedy }
}

/** Opens a connection and sends nothing. */
const isReachable = ({ hostname, port, protocol }: URL) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (protocol === 'https:' ? 443 : 80),
      timeout: 3000,
    })
    const settle = (isConnected: boolean) => {
      socket.destroy()
      resolve(isConnected)
    }
    socket
      .once('connect', () => settle(true))
      .once('timeout', () => settle(false))
      .once('error', () => settle(false))
  })

async function auditOwnerFinding({ ENVIRONMENT, DATABASE_URL }: Config, { pool }: Database): Promise<Finding> {
  if (!(await canDisableAuditTriggers(pool))) return { state: 'ok', text: 'another role owns the audit log' }
  const text = 'this role owns the audit log and could disable its triggers'
  if (ENVIRONMENT !== 'production' || !DATABASE_URL) return { state: 'ok', text }
  return { state: 'warning', text, remedy: 'run assay migrate as an administrator with AUDIT_OWNER_ROLE; see docs/security.md' }
}

async function appFor(config: Config, { db }: Database) {
  const deployment = await findDeployment(db)
  return deployment && appOf(newService({ config, db, vault: await openVault(config, db), log: pino({ level: 'silent' }), orderFlow }))
}

async function auditFinding(app: App): Promise<Finding> {
  const { rows, unchained, broken } = await checkAudit(app)
  const remedy = 'start a worker; if the number stays, somebody inserted rows with the IDs of others'
  if (!broken && unchained) return { state: 'warning', text: `rows that are in no chain after a minute: ${unchained}`, remedy }
  if (!broken) return { state: 'ok', text: `intact, ${rows} rows` }
  throw setupProblem(`broken at row ${broken.seq} of chain ${broken.chain_id}: ${broken.reason}; find out who changed the database`)
}
