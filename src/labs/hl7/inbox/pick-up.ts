import { join } from 'node:path/posix'
import type { App } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { isDatabaseUnavailable } from '../../../platform/db/errors.ts'
import { Problem } from '../../../platform/problem.ts'
import { cutIntoSlices } from '../../../platform/shares/slices.ts'
import { HOUR, later } from '../../../platform/time.ts'
import { findLabBySlug } from '../../catalog/markers.ts'
import { fileSplitter } from '../codec/rules-batch.ts'
import { linksOf, type SftpLink } from '../links/connections.ts'
import { countLabMessage } from '../links/counters.ts'
import { forEachDue } from '../links/each-lab.ts'
import { type IsHeld, withLease } from '../links/lease.ts'
import { setFailure } from '../links/store-leases.ts'
import { digestOf, writeFile } from '../messages/rules-files.ts'
import { connectSftp, type SftpConnection } from '../sftp/client.ts'
import { chooseFiles, type KnownFile } from '../sftp/rules-files.ts'
import { receiveMessage } from './receive.ts'

const TASK = 'pick up'
const MAX_LISTED = 10_000
/** A file that cannot be taken is tried again, and reported again, after this time or when it changes. */
const HELD_MS = HOUR

type Polling = { nextAt: string; known: Map<string, KnownFile> }

/** What this process knows of the servers. Another process that takes over begins with an empty list. */
const pollings = declareCache(() => new Map<string, Polling>())

/** Picks up files with messages of labs. One process at a time does it for a lab. */
export const pickUpLabFiles = (app: App) =>
  forEachDue(
    app,
    async () => dueLinks(app),
    async (link) => {
      const polling: Polling = { nextAt: later(app.wall(), link.sftp.pollMs), known: pollings(app).get(link.slug)?.known ?? new Map() }
      pollings(app).set(link.slug, polling)
      const lab = await findLabBySlug(app, link.slug)
      const untilNext = () => Math.max(1, Date.parse(polling.nextAt) - Date.parse(app.wall()))
      if (!lab) return
      const work = async (isHeld: IsHeld) => {
        const failure = await poll(app, link, polling, isHeld)
        await setFailure(app.db, { lab_id: lab.id, task: TASK }, app.wall(), failure)
      }
      await withLease(app, lab.id, TASK, work, { keepMs: untilNext })
    },
  )

function dueLinks(app: App) {
  const due = new Map<string, SftpLink>()
  for (const link of linksOf(app).values())
    if (link.sftp && (pollings(app).get(link.slug)?.nextAt ?? '') <= app.wall()) due.set(link.slug, link)
  return due
}

/** Returns why the files cannot be picked up, or null. */
async function poll(app: App, link: SftpLink, polling: Polling, isHeld: IsHeld): Promise<string | null> {
  const { results, settleMs, pollMs, filesPerPoll } = link.sftp
  try {
    using sftp = await connectSftp(link.sftp)
    const listed = await sftp.list(results, MAX_LISTED)
    const choice = chooseFiles(listed, polling.known, { now: Date.parse(app.wall()), settleMs, limit: filesPerPoll })
    polling.known = choice.known
    for (const file of choice.chosen) {
      if (!isHeld()) return null
      await takeFile(app, link, sftp, { file, polling, isHeld }).catch((error) => {
        if (isDatabaseUnavailable(error) || !sftp.isOpen()) throw error
        // A file that cannot be taken must not stop the others. The text of another error could contain a value of the message.
        holdFile(app, link, file, error instanceof Problem ? error.message : (error as Error).name)
      })
    }
    if (choice.isMore) polling.nextAt = app.wall()
    else if (choice.isChanging) polling.nextAt = later(app.wall(), Math.min(settleMs, pollMs))
    return null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    countLabMessage(link.slug, 'in', 'failed')
    app.log.warn({ lab: link.slug, reason: error.message }, 'lab files not picked up')
    return error.message
  }
}

type Taking = { file: KnownFile; polling: Polling; isHeld: IsHeld }

/** Stores the messages of a file, and then moves it away. If the process ends before, the messages are recognized by their IDs. */
async function takeFile(app: App, link: SftpLink, sftp: SftpConnection, { file, polling, isHeld }: Taking) {
  const { results, done, maxBytes } = link.sftp
  const hold = (reason: string) => holdFile(app, link, file, reason)
  if (file.size > maxBytes) return hold(`The file has more than ${maxBytes} bytes.`)
  const bytes = await sftp.read(join(results, file.name), file.size)
  const after = await sftp.stat(join(results, file.name))
  if (bytes.length !== file.size || after?.size !== file.size || after.modified !== file.modified)
    return void polling.known.delete(file.name)
  const messages = await messagesIn(bytes)
  if (messages instanceof Problem) return hold(messages.message)
  const answers: Buffer[] = []
  let refused = 0
  for (const message of messages) {
    if (!isHeld()) return
    const receipt = await receiveMessage(app, link, message)
    answers.push(...receipt.answers)
    if (!receipt.isStored) refused++
  }
  if (link.profile.files.acknowledge_results) await acknowledge(link, sftp, file, answers)
  if (refused) return hold(`${refused} of ${messages.length} messages were refused.`)
  await sftp.move(results, done, file.name, app.wall().replace(/\D/g, ''))
}

/** A file that may be cut off or is not HL7 is not stored in part. */
async function messagesIn(bytes: Buffer): Promise<Buffer[] | Problem> {
  const endSlice = cutIntoSlices()
  const splitter = fileSplitter(bytes)
  try {
    while (splitter.next()) await endSlice()
    return splitter.messages()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** The acknowledgments of a file are a file among the orders. They are written before the file moves, so none is missing. */
async function acknowledge({ profile, sftp: { orders } }: SftpLink, sftp: SftpConnection, { name }: KnownFile, answers: Buffer[]) {
  const bytes = writeFile(profile, answers)
  if (answers.length) await sftp.put(orders, `${name.replace(/\.[^.]*$/, '')}-ack-${digestOf(bytes)}.${profile.files.extension}`, bytes)
}

/** The file stays where it is, and nothing of it is lost. Its name is not logged, because a lab can name files after patients. */
function holdFile(app: App, { slug }: SftpLink, file: KnownFile, reason: string) {
  file.heldUntil = Date.parse(app.wall()) + HELD_MS
  countLabMessage(slug, 'in', 'held')
  const modified = new Date(file.modified * 1000).toISOString()
  app.log.error({ lab: slug, bytes: file.size, modified, reason }, 'lab file held')
}
