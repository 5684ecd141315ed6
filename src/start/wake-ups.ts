import { socketFolder } from '../delivery/webhooks/wake-ups/local-messages.ts'
import { wakeUpsAmongProcesses, wakeUpsInProcess } from '../delivery/webhooks/wake-ups/wake-ups.ts'
import type { failureLog } from '../jobs/failures.ts'
import type { startJobs } from '../jobs/loop.ts'
import { DELIVER_WEBHOOKS, NUMBER_EVENTS, type Service } from '../platform/app.ts'
import { connectDirect, type Database } from '../platform/db/open.ts'
import { sortRefs, type WebhookRef } from '../platform/webhook-ref.ts'

export type OnFailure = ReturnType<typeof failureLog>

/** Processes that share a database wake each other. */
export function openWakeUps(service: Service, { db }: Database, isAlone: boolean, onFailure: OnFailure) {
  if (isAlone) return wakeUpsInProcess()
  const { DIRECT_DATABASE_URL } = service.config
  const onError = (error: unknown) => onFailure(DELIVER_WEBHOOKS, error)
  const logUnavailable = ({ code }: { code?: string }) => {
    service.log.warn({ code }, 'DIRECT_DATABASE_URL unavailable, this worker polls')
    return undefined
  }
  const connect = DIRECT_DATABASE_URL ? () => connectDirect(DIRECT_DATABASE_URL).catch(logUnavailable) : undefined
  return wakeUpsAmongProcesses({ db, folder: socketFolder(service.vault), connect, onError })
}

type Worker = { wake(refs: Iterable<WebhookRef>): void }

/** Wakes the delivery and the numbering of a process that does both. */
export const wakeWork = (worker: Worker, loop: Pick<ReturnType<typeof startJobs>, 'wake' | 'wakeSoon'>) => (refs: Iterable<WebhookRef>) => {
  const { webhooks, toNumber, logged } = sortRefs(refs)
  worker.wake(webhooks)
  if (toNumber.size) loop.wake(NUMBER_EVENTS, toNumber)
  if (logged.size) loop.wakeSoon(NUMBER_EVENTS, logged)
}
