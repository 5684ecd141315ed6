import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { outboundOptionsOf } from './delivery/pipelines/destinations/outbound-options.ts'
import { startPublisher } from './delivery/pipelines/publishing/worker.ts'
import { notifier } from './delivery/webhooks/sending/notify.ts'
import { startWorker } from './delivery/webhooks/sending/worker.ts'
import { createMetrics, type Metrics } from './http/metrics/metrics.ts'
import { buildServer } from './http/server.ts'
import { jobs } from './jobs/index.ts'
import { startJobs } from './jobs/loop.ts'
import { loadCatalog } from './labs/catalog/file/actions.ts'
import { checkSettings } from './operations/deployment/actions.ts'
import { type Credentials, openCredentials } from './operations/deployment/credentials.ts'
import { openService } from './operations/deployment/open.ts'
import { appOf, DELIVER_WEBHOOKS, type Service } from './platform/app.ts'
import { type Config, listeningUrl, publicUrl } from './platform/config.ts'
import { startEmbedded } from './platform/db/embedded/start.ts'
import type { Database } from './platform/db/open.ts'
import { safeError } from './platform/log.ts'
import { policyOf } from './platform/outbound/address.ts'
import { openSender } from './platform/outbound/send.ts'
import { createPrivateFolder } from './platform/private-files.ts'
import { setupProblem } from './platform/problem.ts'
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
  const loop = startJobs(service, config.ROLE === 'api' ? jobs.filter((job) => job.everywhere) : jobs, failureOf(service, metrics))
  const delivery = config.ROLE === 'api' ? notifier(service) : await openDelivery(service, database, metrics)
  const publisher = config.ROLE === 'api' ? undefined : openPublisher(service, metrics)
  service.wake = (job, about = []) => (job === DELIVER_WEBHOOKS ? delivery.wake(about) : loop.wake(job))
  // The last requests still record which keys they used.
  opened.defer(() => flushLastUses(service))
  opened.defer(async () => {
    await Promise.all([loop.stop(), server.close(), delivery.stop(), publisher?.stop()])
  })
  const credentials = await openCredentials(appOf(service), publicUrl(config))
  ready = true
  const running = opened.move()
  return { service, listening: listeningUrl(config), credentials, close: () => running.disposeAsync() }
}

async function openDelivery(service: Service, { pool }: Database, metrics: Metrics) {
  const failed = failureOf(service, metrics)
  const sender = openSender({ policy: policyOf(service.config) })
  const worker = await startWorker(
    service,
    () => pool.connect(),
    sender.post,
    (error) => failed(DELIVER_WEBHOOKS, error),
    metrics.deliveries.record,
  )
  return {
    wake: worker.wake,
    stop: async () => {
      await worker.stop()
      await sender.close()
    },
  }
}

function openPublisher(service: Service, metrics: Metrics) {
  const options = outboundOptionsOf(service.config)
  return startPublisher(service, options, (error) => failureOf(service, metrics)('publish to pipelines', error), metrics.pipelines.record)
}

const failureOf =
  ({ log }: Service, metrics: Metrics) =>
  (job: string, error: unknown) => {
    metrics.jobFailures.inc({ job })
    log.error({ job, err: safeError(error) }, 'job failed')
  }

/** Listens, and replaces port 0 in the configuration by the port that the system picked. */
async function listen(server: FastifyInstance, config: Config) {
  const { HOST, PORT } = config
  await server.listen({ host: HOST, port: PORT }).catch((error: Error) => {
    throw setupProblem(`PORT ${PORT} on HOST ${HOST} is not available: ${error.message}; choose another PORT`)
  })
  config.PORT = (server.server.address() as AddressInfo).port
}
