import { outboundOptionsOf } from '../delivery/pipelines/destinations/outbound-options.ts'
import { startWorker } from '../delivery/worker/worker.ts'
import type { Metrics } from '../http/metrics/metrics.ts'
import type { failureLog } from '../jobs/failures.ts'
import { jobs } from '../jobs/index.ts'
import { startJobs } from '../jobs/loop.ts'
import { listenToLabs } from '../labs/hl7/inbox/listen.ts'
import { stopLabWork } from '../labs/hl7/links/each-lab.ts'
import { closeConnections } from '../labs/hl7/outbox/send.ts'
import { appOf, type Service } from '../platform/app.ts'
import { policyOf } from '../platform/outbound/address.ts'
import { openSender } from '../platform/outbound/send.ts'

type OnFailure = ReturnType<typeof failureLog>

/** Runs jobs, delivers to webhooks and pipelines and receives messages of labs. */
export async function startWork(service: Service, metrics: Metrics, onFailure: OnFailure) {
  const delivery = await openDelivery(service, metrics, onFailure)
  const loop = startJobs(service, [...jobs, delivery.worker.job], onFailure)
  service.receivers.job = loop.wake
  service.receivers['team log'] = (team_id) => delivery.worker.wake([team_id])
  const labs = await listenToLabs(appOf(service))
  return {
    async stop() {
      stopLabWork(service)
      await labs.stop()
      await Promise.all([loop.stop(), delivery.stop()])
      closeConnections(service)
    },
  }
}

async function openDelivery(service: Service, metrics: Metrics, onFailure: OnFailure) {
  const sender = openSender({ policy: policyOf(service.config) })
  const worker = await startWorker(service, {
    send: sender.post,
    onError: (error) => onFailure('deliver', error),
    outbound: outboundOptionsOf(service.config),
    recordSent: metrics.deliveries.record,
    recordPublished: metrics.pipelines.record,
    // A service has one process that delivers, and only one service uses an embedded database.
    isAlone: !service.config.DATABASE_URL,
  })
  return {
    worker,
    async stop() {
      await worker.stop()
      await sender.close()
    },
  }
}
