import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import { timeOrderedId } from '../../platform/db/time-ordered-id.ts'
import { type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { later } from '../../platform/time.ts'
import { canSendMail } from './rules.ts'
import * as store from './store.ts'

export { searchPlanned } from './store.ts'

/** The encrypted part of a message. */
export type MessageDocument = { to: string; from_name: string; reply_to: string | null; subject: string; text: string; language: string }

type NewMessage = {
  team_id: string
  /** Null for a contact of the team. */
  user_id: string | null
  order_id: string
  kind: string
  document: MessageDocument
  /** On the team's clock. Without it, the message is sent now. */
  planned_at?: string
  /** On the team's clock. */
  expires_at?: string
}

export const associatedData = (id: string) => `messages.sealed.${id}`

/** Writes a message in the open transaction. A job sends it. */
export async function queueMessage(app: AppInTransaction, key: SealingKey, { document, ...message }: NewMessage) {
  if (!canSendMail(app.config)) return
  const id = timeOrderedId(app.wall())
  const sealed = seal(key, associatedData(id), document)
  const when = message.planned_at ? { status: 'planned' } : { status: 'queued', send_at: app.wall() }
  await store.insertMessage(app.db, { ...message, ...when, id, sealed, created_at: app.now() })
}

export const cancelPlanned = (app: AppInTransaction, team_id: string, order_id: string) => store.cancelPlanned(app.db, team_id, order_id)

export const isOptedOut = (app: App, team_id: string, user_id: string) => store.isOptedOut(app.db, team_id, user_id)

const BATCH_SIZE = 100

/** Queues the planned messages that are due on their team's clock; returns whether there may be more. */
export async function queueDueMessages(app: App, team_id?: string) {
  const due = await store.listPlanned(app.db, app.wall(), BATCH_SIZE, team_id)
  await inTransaction(app, async ({ db, wall }) => {
    const send_at = wall()
    for (const { planned_at, expires_at, ...message } of due) {
      const leftMs = expires_at && planned_at ? Date.parse(expires_at) - Date.parse(planned_at) : undefined
      await store.queuePlanned(db, message, { send_at, expires_at: leftMs === undefined ? null : later(send_at, leftMs) })
    }
  })
  return due.length === BATCH_SIZE
}

export const findNextPlanned = async (app: App, team_id: string) => (await store.findNextPlanned(app.db, team_id))?.at ?? undefined
