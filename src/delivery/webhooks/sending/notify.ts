import type { Service } from '../../../platform/app.ts'
import { notifyWorkers } from './store-lanes.ts'

/** Many commits make one call; the first after a while is made at once. */
const TOGETHER = 5
/** A call has no room for more; then the workers look for themselves. */
const NAMED = 200

/** Tells the workers of other processes, soon after a commit and never within one: that would take a lock over the whole database. */
export function notifier({ db }: Service) {
  const told = new Set<string>()
  let waiting: NodeJS.Timeout | undefined
  let calledAt = 0
  function call() {
    const webhook_ids = told.size > NAMED ? [] : [...told]
    told.clear()
    waiting = undefined
    calledAt = performance.now()
    // The workers look by themselves too, so a call that is lost delays and loses nothing.
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
