import type { App } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { Problem } from '../../../platform/problem.ts'
import { receiveAside } from '../inbox/receive.ts'
import { type Link, linkTo, type MllpLink } from '../links/connections.ts'
import { forEachDue } from '../links/each-lab.ts'
import { type IsHeld, withLease } from '../links/lease.ts'
import { findAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { decodeOrUndefined } from '../messages/rules-bytes.ts'
import { connectMllp, type MllpConnection } from '../mllp/client.ts'
import { type Answer, applyAnswer } from './answers.ts'
import { beginMessage, type Pending, recordFailure } from './attempts.ts'
import { dropAtLab } from './drop.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export { SEND_LAB_MESSAGES } from './attempts.ts'
export { searchMessages } from './store.ts'

const BATCH_SIZE = 50

/** Sends the due messages of every lab: labs and their connections in parallel, the messages of a connection one after another. */
export const sendLabMessages = (app: App) =>
  forEachDue(
    app,
    () => dueConnections(app),
    async ({ id, link, connection }) => {
      const task = connection ? `send ${connection}` : 'send'
      await withLease(app, id, task, (isHeld) =>
        link.sftp ? dropAtLab(app, link, id, isHeld) : sendToLab(app, { link, lab_id: id, connection }, isHeld),
      )
    },
  )

async function dueConnections(app: App) {
  const due = new Map<string, { id: number; link: Link; connection: number }>()
  for (const { id, slug, digit } of await store.listDueLabs(app.db, app.wall())) {
    const link = linkTo(app, slug)
    const connection = link && !link.sftp ? rules.connectionOf(digit, link.send.connections) : 0
    if (link) due.set(`${slug} ${connection}`, { id, link, connection })
  }
  return due
}

type Connection = { link: MllpLink; lab_id: number; connection: number }

/** A message that fails stops the messages after it on the connection, because the lab gets them in order. */
async function sendToLab(app: App, to: Connection, isHeld: IsHeld) {
  const digits = rules.digitsOf(to.connection, to.link.send.connections)
  for (;;) {
    const messages = await store.listPending(app.db, to.lab_id, digits, BATCH_SIZE)
    for (const message of messages) if ((message.due_at ?? '') > app.wall() || !isHeld() || !(await sendMessage(app, to, message))) return
    if (messages.length < BATCH_SIZE) return
  }
}

/** Returns whether the next message can be sent. */
async function sendMessage(app: App, { link, connection }: Connection, message: Pending): Promise<boolean> {
  const begun = await beginMessage(app, message)
  if (!begun) return true
  const answer = await exchange(app, link, `${link.slug} ${connection}`, { ...message, bytes: begun.bytes })
  if ('failure' in answer) await recordFailure(app, link, message, answer.failure)
  else await applyAnswer(app, link, message, answer)
  return !('failure' in answer)
}

/** The open connections by lab and number. */
const connections = declareCache(() => new Map<string, MllpConnection>())

type Outgoing = Pick<Pending, 'control_id'> & { bytes: Buffer }

/** A connection that was idle may be closed at the other end, so a failure there is repeated once on a new one. */
async function exchange(app: App, link: MllpLink, name: string, { control_id, bytes }: Outgoing): Promise<Answer | { failure: string }> {
  const idle = connections(app).get(name)
  if (idle?.isOpen()) {
    const answer = await exchangeOn(idle, link, control_id, bytes)
    if (!('failure' in answer)) return answer
  }
  const connection = connectMllp(link.send, (message) => receiveAside(app, link, message))
  connection.unref()
  connections(app).set(name, connection)
  return exchangeOn(connection, link, control_id, bytes)
}

async function exchangeOn(connection: MllpConnection, { profile, send }: MllpLink, control_id: string, bytes: Buffer) {
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
