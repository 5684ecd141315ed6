import { notify } from '../db/connections/notifications.ts'
import type { Db } from '../db/open.ts'
import { partsOf } from '../results/long-list.ts'
import type { WakeUp } from './wake-up.ts'

/** Commits within this time share a notification. The first after a pause is sent immediately. */
const BATCH_MS = 5
/** A notification has at most 8000 bytes. */
const MAX_IDS = 100
const PREFIX = 'assay '

export const channelOf = (type: string) => `${PREFIX}${type}`

export const wakeUpsIn = (channel: string, payload: string) =>
  payload.split(',').map((id) => ({ type: channel.slice(PREFIX.length) as WakeUp['type'], id }))

/** Notifies other machines soon after a commit, never inside a transaction: NOTIFY there takes a database-wide lock. */
export function notifier(db: Db) {
  const pending = new Map<WakeUp['type'], Set<string>>()
  let timer: NodeJS.Timeout | undefined
  let notifiedAt = 0
  async function notifyAll() {
    timer = undefined
    notifiedAt = performance.now()
    const notified = [...pending].flatMap(([type, ids]) =>
      [...partsOf([...ids], MAX_IDS)].map((some) => notify(db, channelOf(type), some.join())),
    )
    pending.clear()
    await Promise.allSettled(notified)
  }
  return {
    send({ type, id }: WakeUp) {
      pending.set(type, (pending.get(type) ?? new Set()).add(id))
      timer ??= setTimeout(notifyAll, Math.max(0, notifiedAt + BATCH_MS - performance.now()))
    },
    /** Sends what is pending. */
    async stop() {
      clearTimeout(timer)
      await notifyAll()
    },
  }
}
