import type { AppInTransaction } from '../../../platform/app.ts'
import * as store from './store-days.ts'

/** Deletes the samples of deleted users. Call it after the users are deleted, which waits for samples that are being written. */
export const deleteSamplesOf = ({ db }: AppInTransaction, team_id: string, user_ids: string[]) => store.deleteDaysOf(db, team_id, user_ids)

/** Deletes the samples of all deleted users of a team. */
export const deleteOrphanedSamples = ({ db }: AppInTransaction, team_id: string) => store.deleteOrphanedDays(db, team_id)
