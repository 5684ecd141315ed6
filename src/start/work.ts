import { outboundOptionsOf } from '../delivery/pipelines/destinations/outbound-options.ts'
import { startWorker } from '../delivery/worker/worker.ts'
import type { Metrics } from '../http/metrics/metrics.ts'
import { failureLog } from '../jobs/failures.ts'
import { jobs } from '../jobs/index.ts'
import { startJobs } from '../jobs/loop.ts'
import { receiveJobWakeUps } from '../jobs/wake-ups.ts'
import { listenToLabs } from '../labs/hl7/inbox/listen.ts'
import { stopLabWork } from '../labs/hl7/links/each-lab.ts'
import { closeConnections } from '../labs/hl7/outbox/send.ts'
import { appOf, DELIVER, type Service } from '../platform/app.ts'
import type { Database } from '../platform/db/open.ts'
import { policyOf } from '../platform/outbound/address.ts'
import { openSender } from '../platform/outbound/send.ts'
import { type OnFailure, openWakeUps } from './wake-ups.ts'

/** Runs jobs, delivers to webhooks and pipelines and receives messages of labs. */
export async function startWork(service: Service, database: Database, metrics: Metrics, hasSiblings: boolean) {
  const isAlone = !service.config.DATABASE_URL && !hasSiblings
  const onFailure = failureLog(service.log, (job) => metrics.jobFailures.inc({ job }))
  const delivery = await openDelivery(service, metrics, onFailure)
  const loop = startJobs(service, [...jobs, delivery.worker.job], onFailure)
  const wakeUps = openWakeUps(service, database, isAlone, onFailure)
  const jobWakeUps = isAlone ? undefined : await receiveJobWakeUps(service.vault, loop.wake, (error) => onFailure('wake-ups', error))
  await wakeUps.listen(delivery.worker.wake)
  service.wake = (job, about = []) => (job === DELIVER ? wakeUps.send(about) : loop.wake(job, about))
  const labs = await listenToLabs(appOf(service))
  return {
    async stop() {
      stopLabWork(service)
      await labs.stop()
      await Promise.all([loop.stop(), wakeUps.stop(), jobWakeUps?.stop(), delivery.stop()])
      closeConnections(service)
    },
  }
}

async function openDelivery(service: Service, metrics: Metrics, onFailure: OnFailure) {
  const sender = openSender({ policy: policyOf(service.config) })
  const worker = await startWorker(service, {
    send: sender.post,
    onError: (error) => onFailure(DELIVER, error),
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
