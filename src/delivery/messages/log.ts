import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { pageAfter, pageOf } from '../../platform/paging.ts'
import { openMessage } from './send.ts'
import * as store from './store.ts'

type Query = { order_id?: string | null | undefined; next_cursor?: string | null | undefined }

/** The messages of a team, newest first. */
export async function listMessages(app: App, { team_id }: TeamCaller, { order_id, next_cursor }: Query) {
  const page = pageAfter(next_cursor)
  const found = await store.listMessages(app.db, team_id, order_id, page)
  const { rows, next_cursor: next } = pageOf(found, page, ({ created_at, id }) => ({ at: created_at, id }))
  const messages = await Promise.all(rows.map(async (row) => ({ ...row, ...(await openMessage(app, row)) })))
  return { messages, next_cursor: next }
}

/** Deletes messages from before a day, except those that are still to be sent. */
export const pruneMessages = (app: App, oldest: string) => store.pruneMessages(app.db, oldest)
