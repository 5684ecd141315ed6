import type { App, AppInTransaction } from '../../../platform/app.ts'
import { DAY, later } from '../../../platform/time.ts'
import { listLabs } from '../../catalog/markers.ts'
import { deleteBody, deleteOld } from './store.ts'

/** Deletes the text of a message without an order, once its result is filed: erasing the user could not find it here. */
export const forgetReceived = (app: AppInTransaction, lab_id: number, control_id: string) => deleteBody(app.db, { lab_id, control_id })

/**
 * Deletes old messages of labs. One that a lab repeats even later counts as new: filing it changes nothing, because the report
 * is stored with its order, or in a queue.
 */
export async function pruneLabInbox(app: App) {
  const before = later(app.wall(), -app.config.LAB_INBOX_DAYS * DAY)
  for (const { id } of await listLabs(app)) await deleteOld(app.db, id, before)
}
