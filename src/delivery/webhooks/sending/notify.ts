import type { Service } from '../../../platform/app.ts'
import { notifyWorkers } from './store-lanes.ts'

/** Commits within this time share one notification. The first after a pause is sent immediately. */
const BATCH_MS = 5
/** A notification has no room for more IDs. With more, the workers poll all webhooks. */
const MAX_IDS = 200

/** Notifies the workers of other processes soon after a commit, never inside a transaction: NOTIFY there takes a database-wide lock. */
export function notifier({ db }: Service) {
  const pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let notifiedAt = 0
  function notify() {
    const webhook_ids = pending.size > MAX_IDS ? [] : [...pending]
    pending.clear()
    timer = undefined
    notifiedAt = performance.now()
    // Workers also poll, so a lost notification only delays a delivery.
    notifyWorkers(db, webhook_ids).catch(() => {})
  }
  return {
    wake(webhook_ids: Iterable<string>) {
      for (const id of webhook_ids) pending.add(id)
      timer ??= setTimeout(notify, Math.max(0, notifiedAt + BATCH_MS - performance.now()))
    },
    async stop() {
      clearTimeout(timer)
    },
  }
}
