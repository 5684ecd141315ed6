import type { AppInTransaction } from '../../../platform/app.ts'
import * as store from './store-erasure.ts'

/** Erases a batch of what webhooks have of users, with the parked messages of emptied events, and returns how many rows. */
export async function eraseMessages({ db }: AppInTransaction, team_id: string, user_ids: string[], limit: number) {
  await store.lockParkingCursors(db, team_id)
  await store.deleteEmptiedParked(db, team_id)
  await store.deleteEmptyKeys(db, team_id)
  return Math.max(await store.emptyAttempts(db, team_id, user_ids, limit), await store.deleteInboxMessages(db, team_id, user_ids, limit))
}

/** Deletes a batch of attempts of a team that is gone, and returns how many. Foreign keys delete the rest. */
export const deleteAttemptsOfTeam = ({ db }: AppInTransaction, team_id: string, limit: number) => store.deleteAttempts(db, team_id, limit)
