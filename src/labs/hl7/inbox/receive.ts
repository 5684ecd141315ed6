import type { App } from '../../../platform/app.ts'
import { Problem } from '../../../platform/problem.ts'
import { cutIntoSlices } from '../../../platform/shares/slices.ts'
import { findLabBySlug } from '../../catalog/markers.ts'
import { newSampleId } from '../../orders/sample-ids.ts'
import { type Message, parseMessage } from '../codec/rules-message.ts'
import { segmentOf } from '../codec/rules-read.ts'
import type { Link } from '../links/connections.ts'
import { countLabMessage } from '../links/counters.ts'
import { refuse, type Verdict } from '../messages/rules-acknowledgment.ts'
import { decodeHeader, decodeOrUndefined, decodeText, encodeMessage } from '../messages/rules-bytes.ts'
import type { MllpAnswer } from '../mllp/server.ts'
import { processingId } from '../outbox/queue.ts'
import * as rules from './rules.ts'
import { decryptAnswers, digestOf, encryptAnswers, encryptBody } from './sealing.ts'
import * as store from './store.ts'

/** The job that files the messages of labs. */
export const FILE_LAB_MESSAGES = 'file lab messages'

/** Messages of one millisecond keep their order. */
let received = 0

/** What to answer, and whether the message is stored now or was before. */
export type Receipt = MllpAnswer & { answers: Buffer[]; isStored: boolean }

/** Stores a message of a lab before it is acknowledged. A repeated message is stored once and gets the same acknowledgments. */
export async function receiveMessage(app: App, link: Link, bytes: Buffer): Promise<Receipt> {
  const header = decodeHeader(link.profile, bytes)
  // Nobody can be told without a header.
  if (!header) return { answers: [], closes: true, isStored: false }
  const endSlice = cutIntoSlices()
  const { message, verdict } = await read(app, link, bytes, { header, endSlice })
  await endSlice()
  if (verdict.problem) {
    countLabMessage(link.slug, 'in', 'rejected')
    app.log.warn({ lab: link.slug, code: verdict.code, error: verdict.problem.code }, 'lab message rejected')
    return { answers: receipts(app, link, message, verdict), isStored: false }
  }
  return keep(app, link, message, bytes)
}

/** Stores an answer that comes later on a connection to the lab. Other messages come to the port of Assay. */
export function receiveAside(app: App, link: Link, bytes: Buffer) {
  const message = decodeOrUndefined(link.profile, bytes)
  if (!message || !segmentOf(message, 'MSA')) return
  receiveMessage(app, link, bytes).catch((error) => app.log.error({ lab: link.slug, err: String(error) }, 'lab message not stored'))
}

type Reading = { header: Message; endSlice: ReturnType<typeof cutIntoSlices> }

async function read(
  app: App,
  { profile }: Link,
  bytes: Buffer,
  { header, endSlice }: Reading,
): Promise<{ message: Message; verdict: Verdict }> {
  try {
    const { text, charset } = decodeText(profile, bytes)
    await endSlice()
    const message = parseMessage(text, charset)
    return { message, verdict: rules.judgeMessage(message, processingId(app)) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code = '199' } = error.detail as { code?: string }
    return { message: header, verdict: { code: 'AE', problem: { code, text: error.message } } }
  }
}

async function keep(app: App, link: Link, message: Message, bytes: Buffer): Promise<Receipt> {
  const lab = await findLabBySlug(app, link.slug)
  const refused = (verdict: Verdict) => ({ answers: receipts(app, link, message, verdict), isStored: false })
  if (!lab) return refused(refuse('AR', 'other', 'The catalog does not have this lab.'))
  const key = { lab_id: lab.id, control_id: rules.controlIdOf(message) }
  const endSlice = cutIntoSlices()
  const digest = await digestOf(app, bytes)
  await endSlice()
  const answers = receipts(app, link, message, { code: 'AA' })
  const sealed = await encryptBody(app, key, bytes)
  await endSlice()
  const now = app.wall()
  const isNew = await store.insertReceived(app.db, {
    ...key,
    type: rules.typeOf(message),
    state: 'stored',
    received_at: now,
    position: received++ % 1_000_000_000,
    due_at: now,
    digest,
    sealed,
    answer_sealed: encryptAnswers(app, key, answers),
  })
  if (isNew) {
    app.wake('job', FILE_LAB_MESSAGES)
    return { answers, isStored: true }
  }
  countLabMessage(link.slug, 'in', 'repeated')
  const earlier = await store.findReceived(app.db, key)
  if (earlier?.digest.equals(digest)) return { answers: decryptAnswers(app, key, earlier.answer_sealed), isStored: true }
  app.log.warn({ lab: link.slug }, 'lab message with the control ID of another')
  return refused(refuse('AE', 'duplicateKey', 'Another message had this MSH-10.'))
}

const receipts = (app: App, { profile }: Link, message: Message, verdict: Verdict) =>
  rules.receiptsFor(message, { verdict, sent_at: app.wall(), controlId: newSampleId }).map((answer) => encodeMessage(profile, answer))
