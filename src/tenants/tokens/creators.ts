import type { App } from '../../platform/app.ts'
import * as store from './store.ts'

/** Whether the key or person that created a token may still create one for the team. */
export const isCreatorLive = async (app: App, team_id: string, creator_id: string) =>
  (await store.findTeamOfCreator(app.db, team_id, creator_id, app.wall())) !== undefined
