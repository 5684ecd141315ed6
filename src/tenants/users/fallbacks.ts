import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { keyOf, lockUser, type UserRow } from './actions.ts'
import { birthDateOf, sealBirthDate } from './birth-date.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Gap: where the customer named no zone, the first source that knows it does, and keeps it up to date. */
export async function fillTimeZone(app: App, user: UserRow, source_slug: SourceSlug, time_zone: string) {
  const known = user.time_zone === null ? null : { value: user.time_zone, source_slug: user.time_zone_source }
  if (!rules.mayFill(known, time_zone, source_slug)) return
  await store.fillTimeZone(app.db, user, { time_zone, time_zone_source: source_slug, time_zone_updated_at: app.now() })
}

/** The same for the birth date. */
export const fillBirthDate = (app: App, { team_id, user_id }: UserRow, source_slug: SourceSlug, value: string) =>
  inTransaction(app, async (app) => {
    const user = await lockUser(app, team_id, user_id)
    const key = await keyOf(app, user)
    if (!rules.mayFill(birthDateOf(key, user), value, source_slug)) return
    await store.updateUser(app.db, team_id, user_id, { sealed: sealBirthDate(key, user_id, { value, source_slug, updated_at: app.now() }) })
  })
