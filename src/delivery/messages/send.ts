import type { App } from '../../platform/app.ts'
import { inParallel } from '../../platform/in-parallel.ts'
import { open } from '../../platform/sealing/seal.ts'
import { teamSealingKey, userSealingKey } from '../../platform/sealing/vault.ts'
import { later } from '../../platform/time.ts'
import { unsubscribeUrl } from './opt-out.ts'
import { associatedData, type MessageDocument } from './outbox.ts'
import * as rules from './rules.ts'
import { canSendMail } from './rules.ts'
import * as store from './store.ts'
import { type Mailer, openMailer } from './transport.ts'

export { searchDueMessages } from './store.ts'

const BATCH_SIZE = 50
const AT_ONCE = 4

/** Whether the messages about an order are sent. Undefined or null leaves it to the team. */
type FindOrderSetting = (team_id: string, order_id: string) => Promise<boolean | null | undefined>

/** Sends the messages that are due; returns whether there may be more. Nothing is sent inside a transaction. */
export async function sendDueMessages(app: App, findOrderSetting: FindOrderSetting) {
  if (!canSendMail(app.config)) return false
  const due = await store.listDueMessages(app.db, app.wall(), BATCH_SIZE)
  if (!due.length) return false
  const mailer = openMailer(app.config)
  try {
    await inParallel(due, AT_ONCE, (message) => sendMessage(app, message, { mailer, findOrderSetting }))
  } finally {
    mailer.close()
  }
  return due.length === BATCH_SIZE
}

type Sending = { mailer: Mailer; findOrderSetting: FindOrderSetting }

async function sendMessage(app: App, found: { team_id: string; id: string }, { mailer, findOrderSetting }: Sending) {
  const message = await store.claimMessage(app.db, found, app.wall(), later(app.wall(), rules.LEASE_MS))
  if (!message) return
  const error = await findReasonToCancel(app, message, findOrderSetting)
  if (error) return store.updateMessage(app.db, message, { status: 'canceled', send_at: null, error })
  const outcome = await mailer.send(await emailOf(app, message))
  if (!outcome.sent)
    app.log.warn({ team_id: message.team_id, message_id: message.id, attempt: message.tries, error: outcome.error }, 'email failed')
  await store.updateMessage(app.db, message, rules.afterAttempt(message.tries, outcome, app.wall()))
}

async function findReasonToCancel(
  app: App,
  { team_id, user_id, order_id, expires_at }: store.ClaimedMessage,
  findOrderSetting: FindOrderSetting,
) {
  const recipient = user_id ? await store.findRecipient(app.db, team_id, user_id) : undefined
  const setting = recipient && order_id ? await findOrderSetting(team_id, order_id) : undefined
  return rules.reasonToCancel(
    {
      expires_at,
      is_patient: user_id !== null,
      is_deleted: !recipient || recipient.deleted_at !== null,
      email_enabled: setting ?? recipient?.email_enabled ?? false,
      opted_out: user_id !== null && (await store.isOptedOut(app.db, team_id, user_id)),
    },
    app.wall(),
  )
}

async function emailOf(app: App, message: store.ClaimedMessage) {
  const { team_id, user_id, id } = message
  const { language, text, ...email } = await openMessage(app, message)
  if (!user_id) return { ...email, text, id, unsubscribe_url: null }
  const unsubscribe_url = unsubscribeUrl(app, { team_id, user_id }, language)
  return { ...email, text: `${text}\n${rules.optOutLine(language, unsubscribe_url)}\n`, id, unsubscribe_url }
}

type Encrypted = { team_id: string; user_id: string | null; id: string; sealed: Buffer }

/** Decrypts a message with the key of its user, or of its team. */
export async function openMessage(app: App, { team_id, user_id, id, sealed }: Encrypted): Promise<MessageDocument> {
  const key = user_id ? await userSealingKey(app, team_id, user_id) : await teamSealingKey(app, team_id)
  if (!key) throw new Error('The user of the message is erased')
  return open<MessageDocument>(key, associatedData(id), sealed)
}
