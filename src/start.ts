import type { Logger } from 'pino'
import type { Siblings } from './http/connections/siblings.ts'
import { createMetrics } from './http/metrics/metrics.ts'
import { failureLog } from './jobs/failures.ts'
import { startJobs } from './jobs/loop.ts'
import { ownMemoryJobs } from './jobs/own-memory.ts'
import { openLinks } from './labs/hl7/links/connections.ts'
import { type Credentials, openCredentials } from './operations/deployment/credentials.ts'
import { type OpenEmbedded, openService } from './operations/deployment/open.ts'
import { checkSettings } from './operations/deployment/rules.ts'
import { appOf, type Service } from './platform/app.ts'
import { type Config, listeningUrl, publicUrl } from './platform/config.ts'
import { startEmbedded } from './platform/db/embedded/start.ts'
import { createPrivateFolder } from './platform/private-files.ts'
import { openWakeUps } from './platform/wake-ups/wake-ups.ts'
import type * as http from './start/http.ts'
import type * as work from './start/work.ts'
import { flushLastUses } from './tenants/keys/last-use.ts'

export type RunningProcess = {
  service: Service
  listening: string
  /** Clients close their connections while the process still serves them. */
  drain(): Promise<void>
  close(): Promise<void>
}

export type RunningService = RunningProcess & { credentials: Credentials }

type Options = {
  /** Whether the process listens on PORT. */
  serves?: boolean
  /** Whether the process runs jobs and delivers. */
  works?: boolean
  /** The other processes of the service. */
  siblings?: Siblings | undefined
  openEmbedded?: OpenEmbedded | undefined
  onOutdated?: (() => void) | undefined
}

/** Starts a service, or the first of its processes: loads the catalog and saves the keys. */
export async function startService(config: Config, log: Logger, options?: Options): Promise<RunningService> {
  const saved = Promise.withResolvers<Credentials>()
  const running = await startProcess(config, log, options, {
    beforeServing: loadSandboxCatalog,
    beforeReady: async (service) => saved.resolve(await openCredentials(appOf(service), publicUrl(config))),
  })
  return { ...running, credentials: await saved.promise }
}

type Preparation = { beforeServing?: (service: Service) => Promise<void>; beforeReady?: (service: Service) => Promise<void> }

/** Starts config, database, migrations, HTTP and jobs in this order. A failure, like a stop, closes what is open in reverse order. */
export async function startProcess(
  config: Config,
  log: Logger,
  { serves = true, works = config.ROLE !== 'api', siblings, openEmbedded = startEmbedded, onOutdated }: Options = {},
  { beforeServing, beforeReady }: Preparation = {},
): Promise<RunningProcess> {
  await using opened = new AsyncDisposableStack()
  checkSettings(config)
  openLinks(config.LAB_CONNECTIONS)
  createPrivateFolder(config.DATA_DIR)
  const { service, database } = await openService(config, log, openEmbedded, opened, { onOutdated })
  await beforeServing?.(service)
  const metrics = createMetrics(database)
  siblings?.shareMetrics(metrics)
  let ready = false
  const server = serves ? await openHttp(service, metrics, { siblings, isReady: () => ready }) : undefined
  const onFailure = failureLog(service.log, (job) => metrics.jobFailures.inc({ job }))
  const work = works ? await startWork(service, metrics, onFailure) : startJobs(service, ownMemoryJobs, onFailure)
  const wakeUps = await openWakeUps(service, (error) => onFailure('wake-ups', error))
  // The last requests still record which keys they used.
  opened.defer(() => flushLastUses(service))
  opened.defer(async () => {
    await Promise.all([work.stop(), wakeUps.stop(), server?.close()])
  })
  await beforeReady?.(service)
  ready = true
  const running = opened.move()
  return { service, listening: listeningUrl(config), drain: async () => server?.drain(), close: () => running.disposeAsync() }
}

// A process loads only the code of what it does. The rest would take tens of megabytes.
const openHttp: typeof http.openHttp = async (...values) => (await import('./start/http.ts')).openHttp(...values)
const startWork: typeof work.startWork = async (...values) => (await import('./start/work.ts')).startWork(...values)

/** The catalog takes memory, so only the process that loads it reads it. */
async function loadSandboxCatalog(service: Service) {
  if (service.config.ENVIRONMENT !== 'sandbox') return
  const { loadCatalog } = await import('./labs/catalog/file/actions.ts')
  await loadCatalog(appOf(service))
}
