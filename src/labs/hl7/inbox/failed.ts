import type { App } from '../../../platform/app.ts'
import { type PageQuery, pageAfter, pageOf } from '../../../platform/paging.ts'
import { problem } from '../../../platform/problem.ts'
import { findLabBySlug } from '../../catalog/markers.ts'
import { FILE_LAB_MESSAGES } from './receive.ts'
import * as store from './store.ts'

const MAX_LISTED = 1000

/** The newest messages from labs that could not be filed, without their content. Their team is not known, so they are the operator's. */
export const listFailedMessages = async (app: App, lab_id?: number) =>
  (await store.listFailed(app.db, lab_id, { limit: MAX_LISTED })).slice(0, MAX_LISTED)

/** A page of the failed messages in the shape of the console. */
export async function listFailedLabMessages(app: App, query: PageQuery) {
  const page = pageAfter(query.next_cursor, query.limit)
  const found = await store.listFailed(app.db, undefined, page)
  const { rows, next_cursor } = pageOf(found, page, ({ received_at, id }) => ({ at: received_at, id }))
  const messages = rows.map(({ lab_id, lab_name, lab_slug, ...message }) => ({
    ...message,
    lab: { id: lab_id, name: lab_name, slug: lab_slug },
  }))
  return { messages, next_cursor }
}

type MessageKey = { lab: string; control_id: string }

/** Tries again to file a message that could not be filed, with as many attempts as a new one. */
export async function processFailedLabMessage(app: App, key: MessageKey) {
  const changed = await changeFailed(app, key, { state: 'stored', due_at: app.wall(), attempts: 0, error: null })
  app.wake('job', FILE_LAB_MESSAGES)
  return changed
}

/** Takes a message that nobody will file off the list. It is deleted with the other messages of its age, and can be processed until then. */
export const dismissFailedLabMessage = (app: App, key: MessageKey) => changeFailed(app, key, { state: 'dismissed' })

async function changeFailed(app: App, { lab: slug, control_id }: MessageKey, change: Parameters<typeof store.changeFailed>[2]) {
  const lab = await findLabBySlug(app, slug)
  const changed = lab && (await store.changeFailed(app.db, { lab_id: lab.id, control_id }, change))
  if (!changed)
    throw problem(
      'FAILED_LAB_MESSAGE_NOT_FOUND',
      'No message of this lab with this control ID has failed. List them in the console or with: assay labs failed',
    )
  return { id: changed.id, lab: slug, control_id }
}
