import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import * as store from './store.ts'

export const pauseConnections = (app: App, { team_id }: TeamCaller, { provider, user_ids }: { provider: SourceSlug; user_ids: string[] }) =>
  inTransaction(app, async (app) => {
    const paused = await store.pauseConnections(app.db, team_id, provider, user_ids, app.now())
    const user_ids_paused = paused.map(({ user_id }) => user_id)
    return { user_ids_paused, user_ids_failed: user_ids.filter((id) => !user_ids_paused.includes(id)) }
  })

const PAUSE_BATCH_SIZE = 500

/** Pauses connections seven days after the user's ingestion_end. Returns whether there can be more. */
export async function pauseAfterIngestion(app: App) {
  const wall = app.wall()
  let paused = 0
  for (const team_id of await store.findTeamsToPause(app.db, wall, PAUSE_BATCH_SIZE))
    paused += await store.pauseAfterIngestion(app.db, team_id, wall, PAUSE_BATCH_SIZE)
  return paused > 0
}
