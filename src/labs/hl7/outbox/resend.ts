import type { App } from '../../../platform/app.ts'
import * as store from './store.ts'

/** The team of a message, for the operator. */
export const findTeamOf = async ({ db }: App, id: string) => (await store.findTeamOf(db, id))?.team_id

/** Makes a message due again with the same control ID; undefined if the lab has accepted it, or sent it. */
export const reopenMessage = ({ db, wall }: App, team_id: string, id: string) => store.reopen(db, { team_id, id }, wall())
