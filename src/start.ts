import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { outboundOptionsOf } from './delivery/pipelines/destinations/outbound-options.ts'
import { startPublisher } from './delivery/pipelines/publishing/worker.ts'
import { startWorker } from './delivery/webhooks/sending/worker.ts'
import { socketFolder } from './delivery/webhooks/wake-ups/local-messages.ts'
import { type WakeUps, wakeUpsAmongProcesses, wakeUpsInProcess } from './delivery/webhooks/wake-ups/wake-ups.ts'
import { createMetrics, type Metrics } from './http/metrics/metrics.ts'
import { buildServer } from './http/server.ts'
import { failureLog } from './jobs/failures.ts'
import { jobs } from './jobs/index.ts'
import { startJobs } from './jobs/loop.ts'
import { loadCatalog } from './labs/catalog/file/actions.ts'
import { checkSettings } from './operations/deployment/actions.ts'
import { type Credentials, openCredentials } from './operations/deployment/credentials.ts'
import { openService } from './operations/deployment/open.ts'
import { appOf, DELIVER_WEBHOOKS, type Service } from './platform/app.ts'
import { type Config, listeningUrl, publicUrl } from './platform/config.ts'
import { startEmbedded } from './platform/db/embedded/start.ts'
import { connectDirect, type Database } from './platform/db/open.ts'
import { policyOf } from './platform/outbound/address.ts'
import { openSender } from './platform/outbound/send.ts'
import { createPrivateFolder } from './platform/private-files.ts'
import { setupProblem } from './platform/problem.ts'
import type { WebhookRef } from './platform/webhook-ref.ts'
import { flushLastUses } from './tenants/keys/last-use.ts'

export type RunningService = { service: Service; listening: string; credentials: Credentials; close(): Promise<void> }

/** Starts config, database, migrations, HTTP and jobs in this order. A failure, like a stop, closes what is open in reverse order. */
export async function startService(config: Config, log: Logger): Promise<RunningService> {
  await using opened = new AsyncDisposableStack()
  checkSettings(config)
  createPrivateFolder(config.DATA_DIR)
  const { service, database } = await openService(config, log, startEmbedded, opened)
  if (config.ENVIRONMENT === 'sandbox') await loadCatalog(appOf(service))
  const metrics = createMetrics(database)
  let ready = false
  const server = await buildServer(service, metrics, { isReady: () => ready })
  await listen(server, config)
  const onFailure = failureLog(log, (job) => metrics.jobFailures.inc({ job }))
  const loop = startJobs(service, config.ROLE === 'api' ? jobs.filter((job) => job.everywhere) : jobs, onFailure)
  const wakeUps = openWakeUps(service, database, onFailure)
  const delivery = config.ROLE === 'api' ? undefined : await openDelivery(service, wakeUps, metrics, onFailure)
  const publisher = config.ROLE === 'api' ? undefined : openPublisher(service, metrics, onFailure)
  service.wake = (job, about = []) => (job === DELIVER_WEBHOOKS ? wakeUps.send(about as Iterable<WebhookRef>) : loop.wake(job, about))
  service.wakeSoon = loop.wakeSoon
  // The last requests still record which keys they used.
  opened.defer(() => flushLastUses(service))
  opened.defer(async () => {
    await Promise.all([loop.stop(), server.close(), wakeUps.stop(), delivery?.stop(), publisher?.stop()])
  })
  const credentials = await openCredentials(appOf(service), publicUrl(config))
  ready = true
  const running = opened.move()
  return { service, listening: listeningUrl(config), credentials, close: () => running.disposeAsync() }
}

type OnFailure = (job: string, error: unknown) => void

/** Only one process uses an embedded database. Processes that share a database wake each other. */
function openWakeUps(service: Service, { db }: Database, onFailure: OnFailure) {
  const { DATABASE_URL, DIRECT_DATABASE_URL } = service.config
  if (!DATABASE_URL) return wakeUpsInProcess()
  const onError = (error: unknown) => onFailure(DELIVER_WEBHOOKS, error)
  const logUnavailable = ({ code }: { code?: string }) => {
    service.log.warn({ code }, 'DIRECT_DATABASE_URL unavailable, this worker polls')
    return undefined
  }
  const connect = DIRECT_DATABASE_URL ? () => connectDirect(DIRECT_DATABASE_URL).catch(logUnavailable) : undefined
  return wakeUpsAmongProcesses({ db, folder: socketFolder(service.vault), connect, onError })
}

async function openDelivery(service: Service, wakeUps: WakeUps, metrics: Metrics, onFailure: OnFailure) {
  const sender = openSender({ policy: policyOf(service.config) })
  const worker = await startWorker(service, {
    send: sender.post,
    onError: (error) => onFailure(DELIVER_WEBHOOKS, error),
    recordMetrics: metrics.deliveries.record,
    isAlone: !service.config.DATABASE_URL,
  })
  await wakeUps.listen(worker.wake)
  return {
    async stop() {
      await worker.stop()
      await sender.close()
    },
  }
}

function openPublisher(service: Service, metrics: Metrics, onFailure: OnFailure) {
  const options = outboundOptionsOf(service.config)
  return startPublisher(service, options, (error) => onFailure('publish to pipelines', error), metrics.pipelines.record)
}

/** Listens, and replaces port 0 in the configuration by the port that the system picked. */
async function listen(server: FastifyInstance, config: Config) {
  const { HOST, PORT } = config
  await server.listen({ host: HOST, port: PORT }).catch((error: Error) => {
    throw setupProblem(`PORT ${PORT} on HOST ${HOST} is not available: ${error.message}; choose another PORT`)
  })
  config.PORT = (server.server.address() as AddressInfo).port
}
