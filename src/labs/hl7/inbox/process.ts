import type { App } from '../../../platform/app.ts'
import { isDatabaseUnavailable } from '../../../platform/db/errors.ts'
import { inParallel } from '../../../platform/in-parallel.ts'
import { cutIntoSlices } from '../../../platform/shares/slices.ts'
import { later, MINUTE } from '../../../platform/time.ts'
import { type Message, parseMessage, type Segment } from '../codec/rules-message.ts'
import { type Link, linkTo } from '../links/connections.ts'
import { countLabMessage } from '../links/counters.ts'
import { type IsHeld, withLease } from '../links/lease.ts'
import { readAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { decodeText } from '../messages/rules-bytes.ts'
import { type PatientResults, readResults, splitPatients } from '../messages/rules-results.ts'
import { applyAnswer } from '../outbox/answers.ts'
import * as outbox from '../outbox/store.ts'
import { type FiledPart, keepParts, wasSeen } from './keep.ts'
import { decryptBody } from './sealing.ts'
import * as store from './store.ts'

export { FILE_LAB_MESSAGES } from './receive.ts'
export { searchReceived } from './store.ts'

const LABS_AT_ONCE = 8
/** After this many attempts, a message is left for a person, so that those after it are filed. */
const MAX_ATTEMPTS = 5
const RESULTS = 'ORU^R01'
/** The lab has its acknowledgment and will not repeat such a message, so a person has to see it, even if other patients in it were filed. */
const NOTHING_FILED = 'No result, no document and no matching order'

/** The part of a message about one patient. */
export type PatientPart = { lab_id: number; link: Link; control_id: string; report: PatientResults; message: Message }
type FilePatient = (app: App, part: PatientPart) => Promise<Omit<FiledPart, 'segments'>>
type Source = { lab: { id: number; slug: string }; link: Link; filePatient: FilePatient }

/** Files what labs have sent: labs in parallel, the messages of a lab in the order in which they were received. */
export const processMessages = async (app: App, filePatient: FilePatient) =>
  inParallel(await store.listReceivingLabs(app.db, app.wall()), LABS_AT_ONCE, async (lab) => {
    const link = linkTo(app, lab.slug)
    if (link) await withLease(app, lab.id, 'file', (isHeld) => processAll(app, { lab, link, filePatient }, isHeld))
  })

async function processAll(app: App, source: Source, isHeld: IsHeld) {
  const { lab, link } = source
  for (;;) {
    const row = await store.findNext(app.db, lab.id)
    if (!row || (row.due_at ?? '') > app.wall() || !isHeld()) return
    try {
      if (!(await processMessage(app, source, row))) return
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      const change = failedAttempt(app, link, row, error)
      await store.setReceived(app.db, row, change)
      if (change.due_at) return
    }
  }
}

/** After the last attempt, the message is left to the operator. The text of an error can contain a value of the message. */
function failedAttempt(app: App, { slug }: Link, row: store.Received, error: unknown) {
  const attempts = row.attempts + 1
  const text = error === NOTHING_FILED ? error : (error as Error).name
  countLabMessage(slug, 'in', 'failed')
  app.log.error({ lab: slug, type: row.type, attempts, error: text }, 'lab message not filed')
  if (error === NOTHING_FILED || attempts >= MAX_ATTEMPTS) return { attempts, error: text, due_at: null, state: 'failed' }
  return { attempts, error: text, due_at: later(app.wall(), attempts * MINUTE) }
}

/** Returns whether the message is filed or given up, so that the next one can be filed. */
async function processMessage(app: App, source: Source, row: store.Received) {
  const { link } = source
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
  const { parts, failure } = await fileParts(app, source, { row, message, patients })
  const isSeen = parts.length > 0 && parts.every(wasSeen)
  const error = failure ?? (row.type === RESULTS && !isSeen ? NOTHING_FILED : undefined)
  const state = parts.length > 0 && parts.every(({ isMatched }) => isMatched) ? 'filed' : 'unmatched'
  const change = error ? failedAttempt(app, link, row, error) : { state, due_at: null, error: null }
  await keepParts(app, row, { message, envelope, bytes, charset, parts }, change)
  if (!error) countLabMessage(link.slug, 'in', state)
  return change.due_at === null
}

type Filing = { row: store.Received; message: Message; patients: Segment[][] }

/** A part that fails does not stop the others. The first failure counts. */
async function fileParts(app: App, { lab, link, filePatient }: Source, { row, message, patients }: Filing) {
  const endSlice = cutIntoSlices()
  const parts: FiledPart[] = []
  let failure: unknown
  for (const [i, report] of readResults(message, link.profile).entries()) {
    await endSlice()
    const segments = patients[i] as Segment[]
    try {
      const part = { lab_id: lab.id, link, control_id: row.control_id, report, message: { ...message, segments } }
      parts.push({ segments, ...(await filePatient(app, part)) })
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      failure ??= error
      parts.push({ segments, kind: 'result', orders: [], isMatched: false, isQueued: false })
    }
  }
  return { parts, failure }
}

/** The answer to an order or a cancellation is kept with that message. */
async function fileAnswer(app: App, link: Link, row: store.Received, answer: Parameters<typeof applyAnswer>[3]) {
  const sent = await outbox.findSentByControlId(app.db, row.lab_id, answer.acknowledgment.control_id)
  if (sent) await applyAnswer(app, link, sent, answer)
  await store.setReceived(app.db, row, { state: sent ? 'filed' : 'unmatched', due_at: null, ...(sent ? { sealed: null } : {}) })
  return true
}
