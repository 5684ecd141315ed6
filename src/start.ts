import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { reachOf } from './delivery/pipelines/destinations/outbound-options.ts'
import { startPublisher } from './delivery/pipelines/publishing/worker.ts'
import { notifier } from './delivery/webhooks/sending/notify.ts'
import { startWorker } from './delivery/webhooks/sending/worker.ts'
import { createMetrics, type Metrics } from './http/metrics/metrics.ts'
import { buildServer } from './http/server.ts'
import { jobs } from './jobs/index.ts'
import { startJobs } from './jobs/loop.ts'
import { loadCatalogue } from './labs/catalog/file/actions.ts'
import { type Credentials, openCredentials } from './operations/credentials.ts'
import { checkSettings, claimDatabase, isClaimed } from './operations/deployment/actions.ts'
import { type App, DELIVER } from './platform/app.ts'
import type { Config } from './platform/config.ts'
import { encryptionKey } from './platform/data-dir.ts'
import { type Embedded, startEmbedded } from './platform/db/embedded/start.ts'
import { migrate } from './platform/db/migrate.ts'
import { checkServer, type Database, openDatabase } from './platform/db/open.ts'
import { noLastUses } from './platform/last-uses.ts'
import { safeError } from './platform/log.ts'
import { policyOf } from './platform/outbound/address.ts'
import { openSender } from './platform/outbound/send.ts'
import { makePrivateFolder } from './platform/private-files.ts'
import { setupProblem } from './platform/problem.ts'
import { openVault } from './platform/sealing/vault.ts'
import { flushLastUses } from './tenants/keys/last-use.ts'

export type Service = { app: App; listening: string; credentials: Credentials; close(): Promise<void> }

/** config → database → migrate → http and jobs. Closes in reverse order; whatever fails on the way closes what was opened. */
export async function startService(config: Config, log: Logger): Promise<Service> {
  await using opened = new AsyncDisposableStack()
  checkSettings(config)
  makePrivateFolder(config.DATA_DIR)
  const { app, database } = await openApp(config, log, startEmbedded, opened)
  if (config.ENVIRONMENT === 'sandbox') await loadCatalogue(app)
  const metrics = createMetrics(database)
  let ready = false
  const server = await buildServer(app, metrics, { ready: () => ready })
  const port = await listen(server, config)
  const loop = startJobs(app, config.ROLE === 'api' ? jobs.filter((job) => job.everywhere) : jobs, failureOf(app, metrics))
  const couriers = config.ROLE === 'api' ? notifier(app) : await openCourier(app, database, metrics)
  const publisher = config.ROLE === 'api' ? undefined : openPublisher(app, metrics)
  app.wake = (job, about = []) => (job === DELIVER ? couriers.wake(about) : loop.wake(job))
  // The last requests still note which keys they used.
  opened.defer(() => flushLastUses(app))
  opened.defer(async () => {
    await Promise.all([loop.stop(), server.close(), couriers.stop(), publisher?.stop()])
  })
  const listening = `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${port}`
  const credentials = await openCredentials(app, config.PUBLIC_URL ?? listening)
  ready = true
  const running = opened.move()
  return { app, listening, credentials, close: () => running.disposeAsync() }
}

/** Delivers to webhooks. */
async function openCourier(app: App, { pool }: Database, metrics: Metrics) {
  const failed = failureOf(app, metrics)
  const sender = openSender({ policy: policyOf(app.config) })
  const worker = await startWorker(
    app,
    () => pool.connect(),
    sender.post,
    (error) => failed(DELIVER, error),
    metrics.deliveries.note,
  )
  return {
    wake: worker.wake,
    stop: async () => {
      await worker.stop()
      await sender.close()
    },
  }
}

/** Publishes to the destinations of pipelines. */
function openPublisher(app: App, metrics: Metrics) {
  const reach = reachOf(app.config)
  return startPublisher(app, reach, (error) => failureOf(app, metrics)('publish to pipelines', error), metrics.pipelines.note)
}

const failureOf =
  ({ log }: App, metrics: Metrics) =>
  (job: string, error: unknown) => {
    metrics.jobFailures.inc({ job })
    log.error({ job, err: safeError(error) }, 'job failed')
  }

async function listen(server: FastifyInstance, { HOST, PORT }: Config) {
  await server.listen({ host: HOST, port: PORT }).catch((error: Error) => {
    throw setupProblem(`PORT ${PORT} on HOST ${HOST} cannot be listened on: ${error.message}; choose another PORT`)
  })
  return (server.server.address() as AddressInfo).port
}

type OpenEmbedded = (options: { dataDir: string; log: Logger }) => Promise<Embedded>

/** The app on its database: embedded or outside, migrated, and checked to be of this deployment and key. `founding`: it may be empty. */
export async function openApp(config: Config, log: Logger, openEmbedded: OpenEmbedded, opened: AsyncDisposableStack, founding = false) {
  const database = await openServer(config, log, openEmbedded, opened)
  await migrate(database.pool)
  const key = encryptionKey(config, await isClaimed(database.db))
  const wall = () => new Date().toISOString()
  const app: App = { config, db: database.db, vault: openVault(key), lastUses: noLastUses(), log, now: wall, wall, wake: () => {} }
  await claimDatabase(app, founding)
  return { app, database }
}

/** The database as it is: embedded or outside. */
export async function openServer(config: Config, log: Logger, openEmbedded: OpenEmbedded, opened: AsyncDisposableStack) {
  const url = config.DATABASE_URL ?? (await embeddedUrl(config, log, openEmbedded, opened))
  const database: Database = opened.adopt(openDatabase(url, config.DATABASE_POOL_SIZE, log), (database) => database.close())
  await checkServer(database, url)
  return database
}

async function embeddedUrl(config: Config, log: Logger, openEmbedded: OpenEmbedded, opened: AsyncDisposableStack) {
  const embedded = await openEmbedded({ dataDir: config.DATA_DIR, log })
  opened.defer(() => embedded.stop())
  return embedded.url
}
