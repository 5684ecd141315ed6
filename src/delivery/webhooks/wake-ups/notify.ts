import type { Db } from '../../../platform/db/open.ts'
import { notifyWorkers } from './store-notify.ts'

/** Commits within this time share a notification. The first after a pause is sent immediately. */
const BATCH_MS = 5
/** A notification has at most 8000 bytes. */
const MAX_REFS = 100

/** Notifies the workers of other processes soon after a commit, never inside a transaction: NOTIFY there takes a database-wide lock. */
export function notifier(db: Db) {
  const pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let notifiedAt = 0
  function notify() {
    const team_ids = [...pending]
    pending.clear()
    timer = undefined
    notifiedAt = performance.now()
    for (let i = 0; i < team_ids.length; i += MAX_REFS) notifyWorkers(db, team_ids.slice(i, i + MAX_REFS).join()).catch(() => {})
  }
  return {
    send(team_ids: Iterable<string>) {
      for (const team_id of team_ids) pending.add(team_id)
      timer ??= setTimeout(notify, Math.max(0, notifiedAt + BATCH_MS - performance.now()))
    },
    stop: () => clearTimeout(timer),
  }
}
