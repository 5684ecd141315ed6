import type { AppInTransaction } from '../../../platform/app.ts'
import { setReceived } from './store.ts'

/** Deletes the text of a message without an order, once its result is filed: erasing the user could not find it here. */
export const forgetReceived = (app: AppInTransaction, lab_id: number, control_id: string) =>
  setReceived(app.db, { lab_id, control_id }, { sealed: null })
