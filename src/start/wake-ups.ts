import { socketFolder } from '../delivery/webhooks/wake-ups/local-messages.ts'
import { wakeUpsAmongProcesses, wakeUpsInProcess } from '../delivery/webhooks/wake-ups/wake-ups.ts'
import type { failureLog } from '../jobs/failures.ts'
import { DELIVER, type Service } from '../platform/app.ts'
import { connectDirect, type Database } from '../platform/db/open.ts'

export type OnFailure = ReturnType<typeof failureLog>

/** Processes that share a database wake each other. */
export function openWakeUps(service: Service, { db }: Database, isAlone: boolean, onFailure: OnFailure) {
  if (isAlone) return wakeUpsInProcess()
  const { DIRECT_DATABASE_URL } = service.config
  const onError = (error: unknown) => onFailure(DELIVER, error)
  const logUnavailable = ({ code }: { code?: string }) => {
    service.log.warn({ code }, 'DIRECT_DATABASE_URL unavailable, this worker polls')
    return undefined
  }
  const connect = DIRECT_DATABASE_URL ? () => connectDirect(DIRECT_DATABASE_URL).catch(logUnavailable) : undefined
  return wakeUpsAmongProcesses({ db, folder: socketFolder(service.vault), connect, onError })
}
