import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { App } from './app.ts'
import type { Config } from './config.ts'
import { type Credentials, openCredentials } from './credentials.ts'
import { encryptionKey, openDataDir } from './data-dir.ts'
import { type Embedded, startEmbedded } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import { checkServer, type Database, openDatabase } from './db/open.ts'
import { checkSettings, checkStart, claimDatabase, loadCatalogue } from './deployment/actions.ts'
import { createMetrics } from './http/metrics.ts'
import { buildServer } from './http/server.ts'
import { jobs } from './jobs/index.ts'
import { startJobs } from './jobs/loop.ts'
import { flushLastUses, noLastUses } from './keys/last-use.ts'
import { safeError } from './log.ts'
import { setupProblem } from './problem.ts'
import { openVault } from './sealing/vault.ts'

export type Service = { app: App; url: string; credentials: Credentials; close(): Promise<void> }

/** A stack of things to close, last opened first. */
type Opened = (() => Promise<unknown>)[]

/** config → database → migrate → http and jobs. Whatever fails on the way closes what was opened. */
export async function startService(config: Config, log: Logger): Promise<Service> {
  const opened: Opened = []
  const close = async () => {
    while (opened.length) await opened.pop()?.()
  }
  try {
    await openDataDir(config)
    const { app, database } = await openApp(config, log, startEmbedded, opened)
    await checkStart(app)
    if (config.ENVIRONMENT === 'sandbox') await loadCatalogue(app)
    const metrics = createMetrics(database)
    const server = await buildServer(app, metrics)
    const port = await listen(server, config)
    // The last requests still note which keys they used.
    opened.push(() => flushLastUses(app).catch(() => {}))
    opened.push(() => server.close())
    const url = config.PUBLIC_URL ?? `http://${config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST}:${port}`
    const failed = (job: string, error: unknown) => {
      metrics.jobFailures.inc({ job })
      log.error({ job, err: safeError(error) }, 'job failed')
    }
    const loop = startJobs(app, config.ROLE === 'api' ? jobs.filter((job) => job.everywhere) : jobs, failed)
    opened.push(() => Promise.all([loop.stop(), server.close()]))
    return { app, url, credentials: await openCredentials(app, url), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function listen(server: FastifyInstance, { HOST, PORT }: Config) {
  await server.listen({ host: HOST, port: PORT }).catch((error: Error) => {
    throw setupProblem(`PORT ${PORT} on HOST ${HOST} cannot be listened on: ${error.message}`)
  })
  return (server.server.address() as AddressInfo).port
}

type OpenEmbedded = (options: { dataDir: string; log: Logger }) => Promise<Embedded>

/** The app on its database: embedded or outside, migrated, and checked to be of this deployment and key. */
export async function openApp(
  config: Config,
  log: Logger,
  openEmbedded: OpenEmbedded,
  opened: Opened,
): Promise<{ app: App; database: Database }> {
  checkSettings(config)
  const url = config.DATABASE_URL ?? (await embeddedUrl(config, log, openEmbedded, opened))
  const database = openDatabase(url, config.DATABASE_POOL_SIZE, log)
  opened.push(() => database.close())
  await checkServer(database, url)
  await migrate(database.pool)
  const key = await encryptionKey(config)
  const wall = () => new Date().toISOString()
  const app: App = { config, db: database.db, vault: openVault(key), lastUses: noLastUses(), log, now: wall, wall }
  await claimDatabase(app)
  return { app, database }
}

async function embeddedUrl(config: Config, log: Logger, openEmbedded: OpenEmbedded, opened: Opened) {
  const embedded = await openEmbedded({ dataDir: config.DATA_DIR, log })
  opened.push(() => embedded.stop())
  return embedded.url
}
