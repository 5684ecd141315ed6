import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { inject } from 'vitest'
import { type Client, createClient } from '../../src/contract/client.ts'
import type { OutboundOptions } from '../../src/delivery/pipelines/destinations/destination.ts'
import { outboundOptionsOf } from '../../src/delivery/pipelines/destinations/outbound-options.ts'
import { startWorker } from '../../src/delivery/worker/worker.ts'
import type { Table } from '../../src/http/endpoint-table.ts'
import { createMetrics } from '../../src/http/metrics/metrics.ts'
import { buildServer } from '../../src/http/server.ts'
import { jobs } from '../../src/jobs/index.ts'
import { startJobs } from '../../src/jobs/loop.ts'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import { orderFlow } from '../../src/labs/order-flow/order-flow.ts'
import { claimDatabase } from '../../src/operations/deployment/actions.ts'
import { openReplica } from '../../src/operations/deployment/replica.ts'
import { type App, appOf, inTransaction, newService } from '../../src/platform/app.ts'
import { readConfig } from '../../src/platform/config.ts'
import { combineSearches } from '../../src/platform/db/due-work.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { policyOf } from '../../src/platform/outbound/address.ts'
import { openSender, type Sender } from '../../src/platform/outbound/send.ts'
import { keyEncryptionOf } from '../../src/platform/sealing/settings.ts'
import { newVault } from '../../src/platform/sealing/vault.ts'
import { DAY, HOUR, later } from '../../src/platform/time.ts'
import { openWakeUps } from '../../src/platform/wake-ups/wake-ups.ts'
import { ensureManagementKey, ensureTeamKey } from '../../src/tenants/keys/actions.ts'
import { createLabKey } from '../../src/tenants/keys/lab-keys.ts'
import { MANAGEMENT_PREFIX } from '../../src/tenants/keys/rules.ts'
import { createOrg } from '../../src/tenants/teams/orgs.ts'
import { atEnd } from './at-end.ts'
import { createDatabase, databaseName, databaseUrl, dropDatabase } from './databases.ts'
import { moveAllEvents } from './events.ts'
import { failOnLeaks, leaksInDatabase } from './leaks.ts'
import { fileTag, newApiKey } from './seeded.ts'

export const ENCRYPTION_KEY = 'only-for-tests-0123456789abcdef0123456789'

/** The database of each test file that this worker ran. */
const fileDatabases = new Map<string, Promise<string>>()

/** The database of this test file, cloned from the migrated template. A sandbox database has the catalog. */
export function fileDatabase(environment = 'sandbox') {
  const known = fileDatabases.get(fileTag())
  if (known) return known
  const database = newDatabase(environment === 'sandbox' ? inject('catalogTemplate') : inject('template'))
  fileDatabases.set(fileTag(), database)
  atEnd(async () => fileDatabases.delete(fileTag()))
  return database
}

let databases = 0

/** The names of the databases that were cloned with the catalog. */
const withCatalog = new Set<string>()

/** A new database, cloned from a template. */
export async function newDatabase(template = inject('template')) {
  // The name contains the process ID, because a file may run again on the same server.
  const name = `${inject('template')}_${fileTag()}_${process.pid}_${++databases}`
  await createDatabase(inject('servers'), name, template)
  if (template === inject('catalogTemplate')) withCatalog.add(name)
  atEnd(() => searchAndDrop(name))
  return databaseUrl(inject('serviceUrl'), name)
}

/** Drops a database. Fails if it contains personal data or a key in plain text. */
async function searchAndDrop(name: string) {
  const leaks = await leaksInDatabase(databaseUrl(inject('adminUrl'), name), name)
  await dropDatabase(inject('servers'), name)
  failOnLeaks(leaks)
}

/** Whether the service connects through a pooler in this run. */
export const isPooledRun = () => inject('serviceUrl') !== inject('adminUrl')

/** The servers of the Citus cluster that this run uses, the coordinator first. Without one, the list is empty. */
export const citusServers = () => (inject('servers').length > 1 ? inject('servers') : [])

/** A new database with the sandbox catalog, which a replica would load otherwise. */
export const newSandboxDatabase = () => newDatabase(inject('catalogTemplate'))

/** A database without migrations. */
export const emptyDatabase = () => newDatabase('template1')

/** The lines that are written at once. One system call for each line took a fiftieth of the time of the tests. */
const LOG_BLOCK_BYTES = 8192

const logFile = () => join(inject('logs'), `${process.pid}.log`)

let openedLog: { destination: ReturnType<typeof pino.destination>; log: Logger } | undefined

function openLog() {
  if (openedLog) return openedLog
  const destination = pino.destination({ dest: logFile(), sync: true, minLength: LOG_BLOCK_BYTES })
  openedLog = { destination, log: pino({ level: 'trace' }, destination) }
  return openedLog
}

/** All test files of a worker write to one log, which the search for leaks reads at the end. */
function workerLog() {
  const { destination, log } = openLog()
  atEnd(async () => destination.flushSync())
  return log
}

/** What the services of this worker have logged. */
export function readWorkerLog() {
  openLog().destination.flushSync()
  return readFileSync(logFile(), 'utf8')
}

export type Tenant = { org_id: string; team_id: string; team_api_key: string; management_key: string; api: Client; admin: Client }

type Options = {
  env?: Record<string, string>
  database?: string
  table?: Table
  /** How far READ_DATABASE_URL may be behind, so that a slow machine changes nothing. */
  maxStalenessMs?: number
  /** For a test that holds many connections. */
  poolSize?: number
  /** How long reads of the metrics share a collection. Tests read what they have just changed. */
  metricsMaxAgeMs?: number
}

/** Four connections that requests take in turn, and two for pipelined statements. Each connection costs the test server memory and time. */
const POOL_SIZE = 6

/** Starts a replica on the database of this file. The test controls its clock and jobs. */
export async function replica({
  env = {},
  database,
  table,
  maxStalenessMs = HOUR,
  poolSize = POOL_SIZE,
  metricsMaxAgeMs = 0,
}: Options = {}) {
  const url = database ?? (await fileDatabase(env['ENVIRONMENT']))
  const config = readConfig({ DATABASE_URL: url, ENCRYPTION_KEY, ...env })
  const log = workerLog()
  const opened = openDatabase(url, poolSize, log)
  // The service refuses a request that waits ten seconds for a connection, and a busy machine makes fifty requests wait longer.
  opened.pool.options.connectionTimeoutMillis = 0
  atEnd(() => opened.close())
  let offset = 0
  let stoppedAt: number | undefined
  const wall = () => later(new Date(stoppedAt ?? Date.now()).toISOString(), offset)
  /** A test can set the wall clock back, but not this one. */
  let advanced = 0
  let monotonicStoppedAt: number | undefined
  const monotonic = () => (monotonicStoppedAt ?? performance.now()) + advanced
  const readReplica = config.READ_DATABASE_URL
    ? openReplica(config.READ_DATABASE_URL, opened.db, poolSize, log, { maxStalenessMs })
    : undefined
  atEnd(async () => readReplica?.close())
  const service = newService({
    config,
    db: opened.db,
    replica: readReplica,
    vault: newVault(keyEncryptionOf(config, true)),
    log,
    orderFlow,
    wall,
    monotonic,
    checksShapes: true,
  })
  const app = appOf(service)
  await claimDatabase(app, true)
  if (config.ENVIRONMENT === 'sandbox' && !withCatalog.has(databaseName(url))) await loadCatalog(app)
  const metrics = { ...createMetrics(opened), maxAgeMs: metricsMaxAgeMs }
  const { server } = await buildServer(service, metrics, { table })
  const base = await server.listen({ host: '127.0.0.1', port: 0 })
  atEnd(() => server.close())
  return {
    app,
    base,
    server,
    metrics,
    url,
    /** The connections that requests take in turn. Pipelined ones are separate. */
    poolSize: () => opened.pool.options.max,
    /** Advances the clocks of this replica. */
    advanceTime: (ms: number) => {
      offset += ms
      advanced += Math.max(0, ms)
    },
    /** Sets the wall clock of this replica. */
    setTime: (moment: string) => {
      offset = Date.parse(moment) - (stoppedAt ?? Date.now())
    },
    /** Stops the clocks of this replica, so that a slow machine ends no lease and no wait. Only `advanceTime` moves it until `resumeTime`. */
    stopTime: (at = Date.now()) => {
      stoppedAt = at
      monotonicStoppedAt = performance.now()
    },
    resumeTime: () => {
      stoppedAt = undefined
      monotonicStoppedAt = undefined
    },
    /** Advances the wall clock to noon UTC, so that no day ends during the test. */
    setTimeToNoon: () => {
      offset = Math.ceil(Date.now() / DAY + 0.5) * DAY - DAY / 2 - Date.now()
    },
    runJobs: () => runJobs(app),
    /** Receives the wake-ups of other processes. */
    connect: async () => {
      const wakeUps = await openWakeUps(service, (error) => app.log.error({ err: String(error) }))
      atEnd(wakeUps.stop)
    },
    /** Starts delivering to webhooks and pipelines. */
    startDelivery: async (send?: Sender['post'], outbound: Partial<OutboundOptions> = {}) => {
      const sender = openSender({ policy: policyOf(config) })
      const onError = (error: unknown) => app.log.error({ err: String(error) })
      const worker = await startWorker(service, {
        send: send ?? sender.post,
        outbound: { ...outboundOptionsOf(config), ...outbound },
        onError,
        recordSent: metrics.deliveries.record,
        recordPublished: metrics.pipelines.record,
      })
      const loop = startJobs(service, [worker.job], (_, error) => onError(error))
      service.receivers.job = loop.wake
      service.receivers['team log'] = (team_id) => worker.wake([team_id])
      atEnd(async () => {
        await loop.stop()
        await worker.stop()
        await sender.close()
      })
      return worker
    },
    /** Creates an organization with a team and both keys. */
    tenant: (names: Partial<Parameters<typeof createOrg>[1]> = {}) => tenant(app, base, names),
    /** Creates a partner lab client with a new key. */
    partnerLab: (lab_id = 1) => partnerLab(app, base, lab_id),
  }
}

const findWork = combineSearches(jobs.filter((job) => job.search !== undefined))

/** Runs every job until it has nothing left to do. Like in the service, a job with a search runs only if it finds work. */
async function runJobs(app: App) {
  let found: string[] | undefined
  for (const job of jobs) {
    if (job.search) found ??= await findWork(app.db, app.wall())
    if (job.search && !found?.includes(job.name)) continue
    while ((await job.run(app)) === true);
    // It may have left work for those after it.
    found = undefined
  }
  await moveAllEvents(app)
}

export type Replica = Awaited<ReturnType<typeof replica>>

async function tenant(app: App, base: string, names: Partial<Parameters<typeof createOrg>[1]>): Promise<Tenant> {
  const { org, team } = await createOrg(app, { org: 'Harbor Health', team: 'Harbor', plan: 'scale', region: app.config.REGION, ...names })
  const team_api_key = newApiKey(app.config.ENVIRONMENT === 'sandbox' ? `sk_${app.config.REGION}_` : `pk_${app.config.REGION}_`)
  const management_key = newApiKey(MANAGEMENT_PREFIX)
  await inTransaction(app, async (app) => {
    await ensureTeamKey(app, team_api_key, { label: 'test', team_id: team.id })
    await ensureManagementKey(app, management_key, { label: 'test', org_id: org.id })
  })
  return {
    org_id: org.id,
    team_id: team.id,
    team_api_key,
    management_key,
    api: createClient(base, { 'x-service-api-key': team_api_key }),
    admin: createClient(base, { 'x-management-key': management_key }),
  }
}

async function partnerLab(app: App, base: string, lab_id: number) {
  const { key: lab_key, id: key_id } = await createLabKey(app, { lab_id, label: 'test' })
  return { lab_key, key_id, lab: createClient(base, { 'x-lab-key': lab_key }) }
}

/** One replica with one tenant. */
export async function world(options: Options = {}) {
  const one = await replica(options)
  return { ...one, ...(await one.tenant()) }
}

/** The error that a call fails with. */
export async function errorOf(call: Promise<unknown>): Promise<{ status: number; detail: Record<string, unknown> }> {
  const result = await call.then(
    (body) => ({ status: 200, detail: { unexpected: body } }),
    (error) => error,
  )
  return { status: result.status, detail: result.detail }
}

export const temporaryFolder = () => mkdtempSync(join(inject('logs'), 'folder-'))

/** A data folder that does not exist yet, for a service with its own PostgreSQL. */
export const newDataDir = () => join(mkdtempSync(join(inject('dataFolders'), 'folder-')), 'data')
