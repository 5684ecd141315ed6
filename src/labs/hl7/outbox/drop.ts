import type { App } from '../../../platform/app.ts'
import { Problem } from '../../../platform/problem.ts'
import type { SftpLink } from '../links/connections.ts'
import type { IsHeld } from '../links/lease.ts'
import { digestOf, writeFile } from '../messages/rules-files.ts'
import { connectSftp, type SftpConnection } from '../sftp/client.ts'
import { recordDelivery } from './answers.ts'
import { beginMessage, type Pending, recordFailure } from './attempts.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

const BATCH_SIZE = 50

/** Leaves the due messages of a lab on its server, in order: one file per message, or one per batch with an envelope. */
export async function dropAtLab(app: App, link: SftpLink, lab_id: number, isHeld: IsHeld) {
  using connections = new DisposableStack()
  let connection: Promise<SftpConnection> | undefined
  const connect = () => {
    connection ??= connectSftp(link.sftp).then((opened) => connections.use(opened))
    return connection
  }
  const size = link.profile.files.envelope === 'none' ? 1 : BATCH_SIZE
  for (;;) {
    const pending = await store.listPending(app.db, lab_id, rules.digitsOf(0, 1), BATCH_SIZE)
    const later = pending.findIndex(({ due_at }) => (due_at ?? '') > app.wall())
    const due = later < 0 ? pending : pending.slice(0, later)
    for (let at = 0; at < due.length; at += size) if (!isHeld() || !(await dropFile(app, link, due.slice(at, at + size), connect))) return
    if (due.length < BATCH_SIZE) return
  }
}

/** Returns whether the next file can be written. */
async function dropFile(app: App, link: SftpLink, messages: Pending[], connect: () => Promise<SftpConnection>) {
  const begun = (await Promise.all(messages.map((message) => beginMessage(app, message)))).filter((one) => one !== undefined)
  if (!begun.length) return true
  const bytes = writeFile(
    link.profile,
    begun.map(({ bytes }) => bytes),
  )
  try {
    const sftp = await connect()
    await sftp.put(link.sftp.orders, nameOf(link, begun, bytes), bytes)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    for (const { message } of begun) await recordFailure(app, link, message, error.message)
    return false
  }
  for (const { message } of begun) await recordDelivery(app, link, message)
  return true
}

type Begun = NonNullable<Awaited<ReturnType<typeof beginMessage>>>

/** The name of a file begins with MSH-10 of its first message. */
function nameOf({ profile: { files } }: SftpLink, begun: Begun[], bytes: Buffer) {
  const first = begun[0]?.message.control_id.replace(/[^\w-]/g, '_')
  return files.envelope === 'none' ? `${first}.${files.extension}` : `${first}-${digestOf(bytes)}.${files.extension}`
}
