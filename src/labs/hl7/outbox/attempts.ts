import type { App } from '../../../platform/app.ts'
import { openBytes } from '../../../platform/sealing/seal.ts'
import { userSealingKey } from '../../../platform/sealing/vault.ts'
import { SECOND } from '../../../platform/time.ts'
import type { Link } from '../links/connections.ts'
import { countLabMessage } from '../links/counters.ts'
import { bodyAssociatedData } from './queue.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type Pending = Awaited<ReturnType<typeof store.listPending>>[number]

export const SEND_LAB_MESSAGES = 'send lab messages'
const MAX_TIMER_MS = 5 * SECOND

/** Records that an attempt begins, and decrypts the message; undefined if it is not to be sent anymore. */
export async function beginMessage(app: App, message: Pending) {
  const key = message.user_id && (await userSealingKey(app, message.team_id, message.user_id))
  if (!key) {
    // The user was erased, so there is nothing left to send.
    await store.deleteMessage(app.db, message)
    return undefined
  }
  const begun = await store.beginAttempt(app.db, message, rules.nextAttemptAt(message.attempts + 1, app.wall()))
  return begun && { message, bytes: openBytes(key, bodyAssociatedData(message.id), message.sealed) }
}

/** Keeps the reason of an attempt that failed. The message stays pending. */
export async function recordFailure(app: App, link: Link, message: Pending, reason: string) {
  countLabMessage(link.slug, 'out', 'failed')
  app.log.warn({ lab: link.slug, order_id: message.order_id, attempt: message.attempts + 1, reason }, 'lab message not sent')
  await store.recordFailure(app.db, message, reason, app.wall())
  // The search for due work would find it up to a second late.
  const waitMs = rules.waitAfter(message.attempts + 1)
  if (waitMs <= MAX_TIMER_MS) setTimeout(() => app.wake('job', SEND_LAB_MESSAGES), waitMs).unref()
}
