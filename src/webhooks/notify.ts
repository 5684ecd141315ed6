import type { App } from '../app.ts'
import { notifyWorkers } from './store-lanes.ts'

/** Many commits make one call. */
const TOGETHER = 5

/** Tells the workers of other processes, soon after a commit and never within one: that would take a lock over the whole database. */
export function notifier(app: App) {
  let waiting: NodeJS.Timeout | undefined
  return {
    wake() {
      waiting ??= setTimeout(() => {
        waiting = undefined
        // The workers look by themselves too, so a call that is lost delays and loses nothing.
        notifyWorkers(app.db).catch(() => {})
      }, TOGETHER)
    },
    async stop() {
      clearTimeout(waiting)
    },
  }
}
