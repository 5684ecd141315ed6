import { changeDelivery } from '../../delivery/events/change-log.ts'
import { deleteEventsOfTeam, deleteUnmoved, emptyEvents, runLogErasures } from '../../delivery/events/erasure/actions.ts'
import { deleteAttemptsOfTeam, eraseMessages } from '../../delivery/webhooks/repair/erasure.ts'
import { type App, inTransaction } from '../../platform/app.ts'

export { searchLogErasures } from '../../delivery/events/erasure/actions.ts'

/** Rows of a table in one transaction. */
const BATCH = 1000

/** Erases users and teams whose keys are gone from outboxes, logs, attempts, parked messages and inboxes. Returns whether there may be more. */
export const eraseFromLogs = (app: App) => runLogErasures(app, { users: eraseUsers, team: eraseTeam })

/** Each batch tells the owner of the log to read it again. */
async function eraseUsers(app: App, team_id: string, user_ids: string[]) {
  const eraseBatch = () =>
    changeDelivery(app, team_id, async (app) =>
      Math.max(
        await emptyEvents(app, team_id, user_ids, BATCH),
        await eraseMessages(app, team_id, user_ids, BATCH),
        await deleteUnmoved(app, team_id, user_ids, BATCH),
      ),
    )
  while ((await eraseBatch()) === BATCH);
}

async function eraseTeam(app: App, team_id: string) {
  const deleteBatch = () =>
    inTransaction(app, async (app) =>
      Math.max(await deleteEventsOfTeam(app, team_id, BATCH), await deleteAttemptsOfTeam(app, team_id, BATCH)),
    )
  while ((await deleteBatch()) === BATCH);
}
