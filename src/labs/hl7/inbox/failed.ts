import type { App } from '../../../platform/app.ts'
import { problem } from '../../../platform/problem.ts'
import { findLabBySlug } from '../../catalog/markers.ts'
import { FILE_LAB_MESSAGES } from './receive.ts'
import * as store from './store.ts'

const MAX_LISTED = 1000

/** Messages from labs that could not be filed, without their content. Their team is not known, so they are the operator's. */
export const listFailedMessages = (app: App, lab_id?: number) => store.listFailed(app.db, lab_id, MAX_LISTED)

/** The failed messages in the shape of the console. */
export const listFailedLabMessages = async (app: App) => ({
  messages: (await listFailedMessages(app)).map(({ lab_id, lab_name, lab_slug, ...message }) => ({
    ...message,
    lab: { id: lab_id, name: lab_name, slug: lab_slug },
  })),
})

/** Tries again to file a message that could not be filed, with as many attempts as a new one. */
export async function processFailedLabMessage(app: App, { lab: slug, control_id }: { lab: string; control_id: string }) {
  const lab = await findLabBySlug(app, slug)
  if (!lab || !(await store.reopenFailed(app.db, { lab_id: lab.id, control_id }, app.wall())))
    throw problem(
      'FAILED_LAB_MESSAGE_NOT_FOUND',
      'No message of this lab with this control ID has failed. List them in the console or with: assay labs failed',
    )
  app.wake('job', FILE_LAB_MESSAGES)
  return { lab: slug, control_id }
}
