import { randomUUID } from 'node:crypto'
import { type App, inTransaction } from '../../../platform/app.ts'
import { isDatabaseUnavailable } from '../../../platform/db/errors.ts'
import { inParallel } from '../../../platform/in-parallel.ts'
import { sealLarge } from '../../../platform/sealing/large.ts'
import { sealBytes } from '../../../platform/sealing/seal.ts'
import { userSealingKey } from '../../../platform/sealing/vault.ts'
import { cutIntoSlices } from '../../../platform/shares/slices.ts'
import { later, MINUTE } from '../../../platform/time.ts'
import { findUserOfOrder } from '../../orders/reading/present.ts'
import { encodeText } from '../codec/rules-charset.ts'
import { formatMessage, type Message, parseMessage, type Segment } from '../codec/rules-message.ts'
import { fileReport } from '../filing/actions.ts'
import { hasObservations } from '../filing/rules-groups.ts'
import { type Link, linkTo } from '../links/connections.ts'
import { countLabMessage } from '../links/counters.ts'
import { type IsHeld, withLease } from '../links/lease.ts'
import { readAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { decodeText } from '../messages/rules-bytes.ts'
import { type PatientResults, readResults, splitPatients } from '../messages/rules-results.ts'
import { applyAnswer } from '../outbox/answers.ts'
import { answerAssociatedData, bodyAssociatedData } from '../outbox/queue.ts'
import * as outbox from '../outbox/store.ts'
import { decryptAnswers, decryptBody } from './sealing.ts'
import { applyStatuses } from './status.ts'
import * as store from './store.ts'

export { FILE_LAB_MESSAGES } from './receive.ts'
export { searchReceived } from './store.ts'

const LABS_AT_ONCE = 8
/** After this many attempts, a message is left for a person, so that those after it are filed. */
const MAX_ATTEMPTS = 5
const RESULTS = 'ORU^R01'
/** The lab has its acknowledgment and will not repeat such a message, so a person has to see it, even if other patients in it were filed. */
const NOTHING_FILED = 'No result, no document and no matching order'

type Lab = { id: number; slug: string }
type OrderRef = { team_id: string; order_id: string }

/** Files what labs have sent: labs in parallel, the messages of a lab in the order in which they were received. */
export const fileLabMessages = async (app: App) =>
  inParallel(await store.listReceivingLabs(app.db, app.wall()), LABS_AT_ONCE, async (lab) => {
    const link = linkTo(app, lab.slug)
    if (link) await withLease(app, lab.id, 'file', (isHeld) => fileAll(app, link, lab, isHeld))
  })

async function fileAll(app: App, link: Link, lab: Lab, isHeld: IsHeld) {
  for (;;) {
    const row = await store.findNext(app.db, lab.id)
    if (!row || (row.due_at ?? '') > app.wall() || !isHeld()) return
    try {
      await fileOne(app, link, lab, row)
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      if (!(await postpone(app, link, row, error))) return
    }
  }
}

/** Returns whether the message is given up. */
async function postpone(app: App, link: Link, row: store.Received, error: unknown) {
  const attempts = row.attempts + 1
  // The text of the error can contain a value of the message.
  const { name } = error as Error
  if (attempts >= MAX_ATTEMPTS) {
    await giveUp(app, link, row, attempts, name)
    return true
  }
  reportFailure(app, link, row, attempts, name)
  await store.setReceived(app.db, row, { attempts, due_at: later(app.wall(), attempts * MINUTE), error: name })
  return false
}

/** Leaves the message to the operator. */
async function giveUp(app: App, link: Link, row: store.Received, attempts: number, error: string) {
  reportFailure(app, link, row, attempts, error)
  await store.setReceived(app.db, row, { attempts, due_at: null, error, state: 'failed' })
}

function reportFailure(app: App, { slug }: Link, { type }: store.Received, attempts: number, error: string) {
  countLabMessage(slug, 'in', 'failed')
  app.log.error({ lab: slug, type, attempts, error }, 'lab message not filed')
}

async function fileOne(app: App, link: Link, lab: Lab, row: store.Received) {
  // A message has up to 20 MB, and each step takes milliseconds.
  const endSlice = cutIntoSlices()
  await endSlice()
  const bytes = await decryptBody(app, row, (await store.readBody(app.db, row)) as Buffer)
  await endSlice()
  const { text, charset } = decodeText(link.profile, bytes)
  await endSlice()
  const message = parseMessage(text, charset)
  await endSlice()
  const acknowledgment = row.type === RESULTS ? undefined : readAcknowledgment(message)
  if (acknowledgment) return fileAnswer(app, link, row, { acknowledgment, bytes })
  const { envelope, patients } = splitPatients(message.segments)
  const reports = readResults(message, link.profile)
  const kept: Kept[] = []
  let isMatched = reports.length > 0
  let isSeen = reports.length > 0
  for (const [i, report] of reports.entries()) {
    await endSlice()
    const segments = patients[i] as Segment[]
    const { kind, orders, ...filed } = await filePart(app, link, lab, { report, message: { ...message, segments } }, row)
    isMatched &&= filed.isMatched
    isSeen &&= filed.isQueued || orders.length > 0
    if (!orders.length) continue
    const own = { ...message, segments: [...envelope, ...segments] }
    const ownBytes = patients.length === 1 ? bytes : encodeText(formatMessage(own), 'UNICODE UTF-8')
    kept.push(...orders.map((order) => ({ ...order, bytes: ownBytes, kind })))
  }
  if (row.type === RESULTS && !isSeen) return giveUp(app, link, row, row.attempts + 1, NOTHING_FILED)
  await keep(app, row, kept, isMatched)
  countLabMessage(link.slug, 'in', isMatched ? 'filed' : 'unmatched')
}

/** The answer to an order or a cancellation is kept with that message. */
async function fileAnswer(app: App, link: Link, row: store.Received, answer: Parameters<typeof applyAnswer>[3]) {
  const sent = await outbox.findSentByControlId(app.db, row.lab_id, answer.acknowledgment.control_id)
  if (sent) await applyAnswer(app, link, sent, answer)
  await store.setReceived(app.db, row, { state: sent ? 'filed' : 'unmatched', due_at: null, ...(sent ? { sealed: null } : {}) })
}

type Filing = { kind: 'result' | 'status'; orders: OrderRef[]; isMatched: boolean; isQueued: boolean }

type Part = { report: PatientResults; message: Message }

/** The part of a message about one patient: a status of the order, results, or both. */
async function filePart(app: App, link: Link, lab: Lab, { report, message }: Part, { control_id }: store.Received): Promise<Filing> {
  const statuses = await applyStatuses(app, lab, link, message, report)
  if (statuses.length && !hasObservations(report.groups)) {
    const moved = statuses.filter((applied) => typeof applied === 'object')
    const isQueued = statuses.includes('left to a person')
    return { kind: 'status', orders: moved, isMatched: moved.length === statuses.length, isQueued }
  }
  const { orders, unmatched } = await fileReport(app, { id: lab.id, profile: link.profile }, report, control_id)
  return { kind: 'result', orders, isMatched: unmatched.length === 0, isQueued: unmatched.length > 0 }
}

type Kept = OrderRef & { bytes: Buffer; kind: string }

/** Keeps the message with its orders, encrypted with the keys of their users. One without an order stays in the inbox. */
async function keep(app: App, row: store.Received, kept: Kept[], isMatched: boolean) {
  const answer = Buffer.concat(decryptAnswers(app, row, row.answer_sealed))
  const copies = await Promise.all(
    kept.map(async ({ team_id, order_id, bytes, kind }, position) => {
      const id = randomUUID()
      const user_id = await findUserOfOrder(app, team_id, order_id)
      const key = user_id && (await userSealingKey(app, team_id, user_id))
      if (!key) return []
      return [
        {
          ...{ team_id, id, order_id, lab_id: row.lab_id, position, kind },
          direction: 'in' as const,
          control_id: row.control_id,
          state: 'filed',
          queued_at: row.received_at,
          sealed: await sealLarge(key, bodyAssociatedData(id), bytes),
          answer_sealed: sealBytes(key, answerAssociatedData(id), answer),
        },
      ]
    }),
  )
  await inTransaction(app, async ({ db }) => {
    const isMoved = isMatched && kept.length > 0
    const state = isMatched ? 'filed' : 'unmatched'
    const isFirst = await store.endFiling(db, row, { state, due_at: null, error: null, ...(isMoved ? { sealed: null } : {}) })
    if (isFirst) for (const copy of copies.flat()) await outbox.insertMessages(db, [copy])
  })
}
