import type { Service } from '../../../platform/app.ts'
import { notifyWorkers } from './store-lanes.ts'

/** Commits within this time share one notification. The first after a pause is sent at once. */
const TOGETHER = 5
/** A notification has no room for more ids. With more, the workers poll all webhooks. */
const NAMED = 200

/** Notifies the workers of other processes soon after a commit, never inside a transaction: NOTIFY there takes a database-wide lock. */
export function notifier({ db }: Service) {
  const told = new Set<string>()
  let waiting: NodeJS.Timeout | undefined
  let calledAt = 0
  function call() {
    const webhook_ids = told.size > NAMED ? [] : [...told]
    told.clear()
    waiting = undefined
    calledAt = performance.now()
    // Workers also poll, so a lost notification only delays a delivery.
    notifyWorkers(db, webhook_ids).catch(() => {})
  }
  return {
    wake(webhook_ids: Iterable<string>) {
      for (const id of webhook_ids) told.add(id)
      waiting ??= setTimeout(call, Math.max(0, calledAt + TOGETHER - performance.now()))
    },
    async stop() {
      clearTimeout(waiting)
    },
  }
}
