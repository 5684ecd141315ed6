import { type KeyObject, randomUUID } from 'node:crypto'
import { BEGINNING } from '../../contract/delivery/log-rows.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { type Outcome, outcomeWithoutExchange } from '../../platform/outbound/outcome.ts'
import { type PageQuery, pageAfter, pageOf } from '../../platform/paging.ts'
import { open, type SealingKey, sealCompressed } from '../../platform/sealing/seal.ts'
import { DAY, later } from '../../platform/time.ts'
import { findLast } from '../events/access.ts'
import { keyOfMessage } from '../events/body.ts'
import { changeAtEnd } from '../events/change-log.ts'
import { type Endpoint, sealSecrets } from './endpoints.ts'
import { newSecret, verify } from './sign.ts'
import * as store from './store-inbox.ts'
import { insertCursor } from './store-positions.ts'

const INITIAL_MESSAGES = 100
const RETENTION_DAYS = 7

type ReceivedRequest = { headers: Record<string, string>; body: string }

export async function readInbox(app: App, { team_id }: TeamCaller, { limit, next_cursor }: PageQuery) {
  const page = pageAfter(next_cursor, limit)
  if (!(await store.findInbox(app.db, team_id))) await createInbox(app, team_id)
  const found = await store.listMessages(app.db, team_id, page)
  const { rows, next_cursor: next } = pageOf(found, page, (message) => ({ at: message.received_at, id: message.id }))
  const messages = await Promise.all(
    rows.map(async (row) => {
      const { headers, body } = open<ReceivedRequest>(await keyOfMessage(app, row), associatedData(row.id), row.sealed)
      return { ...row, verified: row.verdict === 'verified', headers, event: JSON.parse(body) as Record<string, unknown> }
    }),
  )
  return { messages, next_cursor: next }
}

/** Creates the inbox: a regular webhook whose messages never leave the process. It begins with the latest events. */
const createInbox = (app: App, team_id: string) =>
  changeAtEnd(app, team_id, async (app, end) => {
    const id = randomUUID()
    const now = app.wall()
    const secrets = { keys: [{ key: newSecret(), until: null }], headers: {}, sensitive: [], url: 'inbox' }
    const sealed = await sealSecrets(app, { id, team_id }, secrets)
    const row = { id, team_id, description: '', ordering: 'per_key', sealed, created_at: now, updated_at: now } as const
    if (!(await store.insertInbox(app.db, row))) return
    const start = await findLast(app.db, team_id, end.no - INITIAL_MESSAGES)
    await insertCursor(app.db, { team_id, webhook_id: id, after_no: start?.no ?? 0, after_at: start?.at ?? BEGINNING })
  })

export const emptyInbox = (app: App, { team_id }: TeamCaller) =>
  inTransaction(app, async (app) => {
    await store.deleteMessages(app.db, team_id)
  })

/** Acts as the receiver: verifies the message, stores it and responds. */
export async function receive(
  app: App,
  key: SealingKey,
  { id: webhook_id, team_id, secrets }: Endpoint,
  { user_id, headers, body }: ReceivedRequest & { user_id: string | null },
): Promise<Outcome> {
  const id = randomUUID()
  const received_at = app.wall()
  const verdict = verify(secrets[0] as KeyObject, headers, body, received_at)
  const sealed = sealCompressed(key, associatedData(id), JSON.stringify({ headers, body } satisfies ReceivedRequest))
  await store.insertMessage(app.db, { id, webhook_id, team_id, user_id, received_at, verdict, sealed })
  return outcomeWithoutExchange(200, null)
}

const associatedData = (id: string) => `inbox_messages.sealed.${id}`

export const pruneInboxes = (app: App) => store.pruneInboxes(app.db, later(app.wall(), -RETENTION_DAYS * DAY))
