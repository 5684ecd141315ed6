import type { App } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { inParallel } from '../../../platform/in-parallel.ts'
import { Problem } from '../../../platform/problem.ts'
import { openBytes } from '../../../platform/sealing/seal.ts'
import { userSealingKey } from '../../../platform/sealing/vault.ts'
import { receiveAside } from '../inbox/receive.ts'
import { type Link, linkTo } from '../links/connections.ts'
import { countLabMessage } from '../links/counters.ts'
import { type Renew, withLease } from '../links/lease.ts'
import { findAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { decodeOrUndefined } from '../messages/rules-bytes.ts'
import { connectMllp, type MllpConnection } from '../mllp/client.ts'
import { type Answer, applyAnswer } from './answers.ts'
import { bodyAssociatedData } from './queue.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export { searchMessages } from './store.ts'

export const SEND_LAB_MESSAGES = 'send lab messages'

const LABS_AT_ONCE = 8
const BATCH_SIZE = 50

/** Sends the due messages of every lab: labs in parallel, the messages of a lab one after another. */
export const sendLabMessages = async (app: App) =>
  inParallel(await store.listDueLabs(app.db, app.wall()), LABS_AT_ONCE, async ({ id, slug }) => {
    const link = linkTo(app, slug)
    if (link) await withLease(app, id, 'send', (renew) => sendToLab(app, link, id, renew))
  })

/** A message that fails stops the messages after it, because the lab gets them in order. */
async function sendToLab(app: App, link: Link, lab_id: number, renew: Renew) {
  for (;;) {
    const messages = await store.listPending(app.db, lab_id, BATCH_SIZE)
    for (const message of messages) {
      if ((message.due_at ?? '') > app.wall() || !(await renew(2 * link.send.timeoutMs)) || !(await sendMessage(app, link, message))) return
    }
    if (messages.length < BATCH_SIZE) return
  }
}

type Pending = Awaited<ReturnType<typeof store.listPending>>[number]

/** Returns whether the next message can be sent. */
async function sendMessage(app: App, link: Link, message: Pending): Promise<boolean> {
  const key = message.user_id && (await userSealingKey(app, message.team_id, message.user_id))
  if (!key) {
    // The user was erased, so there is nothing left to send.
    await store.deleteMessage(app.db, message)
    return true
  }
  const begun = await store.beginAttempt(app.db, message, rules.nextAttemptAt(message.attempts + 1, app.wall()))
  if (!begun) return true
  const answer = await exchange(app, link, message, openBytes(key, bodyAssociatedData(message.id), message.sealed))
  if (!('failure' in answer)) {
    await applyAnswer(app, link, message, answer)
    return true
  }
  countLabMessage(link.slug, 'out', 'failed')
  app.log.warn({ lab: link.slug, order_id: message.order_id, attempt: begun.attempts, reason: answer.failure }, 'lab message not sent')
  await store.recordFailure(app.db, message, answer.failure, app.wall())
  return false
}

/** The open connections by lab. */
const connections = declareCache(() => new Map<string, MllpConnection>())

/** A connection that was idle may be closed at the other end, so a failure there is repeated once on a new one. */
async function exchange(app: App, link: Link, { control_id }: Pending, bytes: Buffer): Promise<Answer | { failure: string }> {
  const idle = connections(app).get(link.slug)
  if (idle?.isOpen()) {
    const answer = await exchangeOn(idle, link, control_id, bytes)
    if (!('failure' in answer)) return answer
  }
  const connection = connectMllp(link.send, (message) => receiveAside(app, link, message))
  connection.unref()
  connections(app).set(link.slug, connection)
  return exchangeOn(connection, link, control_id, bytes)
}

async function exchangeOn(connection: MllpConnection, { profile, send }: Link, control_id: string, bytes: Buffer) {
  const acknowledgmentIn = (answer: Buffer) => findAcknowledgment(decodeOrUndefined(profile, answer), control_id)
  try {
    const answer = await connection.send(bytes, { timeoutMs: send.timeoutMs, isAnswer: (one) => acknowledgmentIn(one) !== undefined })
    return { acknowledgment: acknowledgmentIn(answer) as Answer['acknowledgment'], bytes: answer }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { failure: error.message }
  }
}

/** Closes the connections to labs. */
export function closeConnections(app: Pick<App, 'caches'>) {
  for (const connection of connections(app).values()) connection.close()
  connections(app).clear()
}
