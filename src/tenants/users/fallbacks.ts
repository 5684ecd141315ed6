import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { lockUser, type UserRow, unwrapUserKey } from './actions.ts'
import { decryptBirthDate, encryptBirthDate } from './birth-date.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** If the customer set no time zone, the first source that reports one sets it and keeps it current. */
export async function fillTimeZone(app: App, user: UserRow, source_slug: SourceSlug, time_zone: string) {
  const current = user.time_zone === null ? null : { value: user.time_zone, source_slug: user.time_zone_source }
  if (!rules.mayFill(current, time_zone, source_slug)) return
  await store.fillTimeZone(app.db, user, { time_zone, time_zone_source: source_slug, time_zone_updated_at: app.now() })
}

/** Sets the birth date by the same rule as the time zone. */
export const fillBirthDate = (app: App, { team_id, user_id }: UserRow, source_slug: SourceSlug, value: string) =>
  inTransaction(app, async (app) => {
    const user = await lockUser(app, team_id, user_id)
    const key = await unwrapUserKey(app, user)
    if (!rules.mayFill(decryptBirthDate(key, user), value, source_slug)) return
    await store.updateUser(app.db, team_id, user_id, {
      sealed: encryptBirthDate(key, user_id, { value, source_slug, updated_at: app.now() }),
    })
  })
