import type { AppInTransaction } from '../../../platform/app.ts'
import * as store from './store-erasure.ts'

/** Erases a batch of what webhooks have of users, with the parked messages of these events, and returns how many rows. The log is locked. */
export async function eraseMessages({ db }: AppInTransaction, team_id: string, user_ids: string[], nos: number[], limit: number) {
  if (nos.length) await store.deleteParked(db, team_id, nos)
  return Math.max(await store.emptyAttempts(db, team_id, user_ids, limit), await store.deleteInboxMessages(db, team_id, user_ids, limit))
}

/** Deletes a batch of attempts of a team that is gone, and returns how many. Foreign keys delete the rest. */
export const deleteAttemptsOfTeam = ({ db }: AppInTransaction, team_id: string, limit: number) => store.deleteAttempts(db, team_id, limit)
