import type { App } from '../../../platform/app.ts'
import { setupProblem } from '../../../platform/problem.ts'
import * as store from './store.ts'

const MAX_LISTED = 1000

/** The messages to labs that wait for an answer or were rejected, without their content. */
export const listOpenMessages = (app: App, lab_id?: number) => store.listOpen(app.db, lab_id, MAX_LISTED)

/** Sends a message again, with the same control ID. Only the operator does. */
export async function resendMessage(app: App, id: string) {
  const message = await store.findOpen(app.db, id)
  if (!message) throw setupProblem('No rejected or pending message has this ID; list them with: assay labs messages')
  await store.setMessage(app.db, { ...message, id }, { state: 'pending', due_at: app.wall(), error: null })
  return message
}
