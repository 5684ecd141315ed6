import type { App } from '../../platform/app.ts'
import * as store from './store-counts.ts'

/** The orders of a team whose users are not erased. */
export const countOrders = async (app: App, team_id: string) => (await store.countOrders(app.db, team_id)).count
