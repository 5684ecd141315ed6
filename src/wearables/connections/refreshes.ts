import { randomUUID } from 'node:crypto'
import type { AppInTransaction } from '../../platform/app.ts'
import { HOUR, later } from '../../platform/time.ts'
import { lockUser } from '../../tenants/users/actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Counts a refresh of a user, or rejects it. */
export async function takeRefresh(app: AppInTransaction, team_id: string, user_id: string) {
  await lockUser(app, team_id, user_id)
  rules.checkRefreshes(await store.countRefreshes(app.db, team_id, user_id, later(app.wall(), -HOUR)), app.wall())
  await store.insertRefresh(app.db, { team_id, user_id, id: randomUUID(), at: app.wall() })
}
