import { newDexcomUser } from '../../src/wearables/providers/dexcom_v3/stand-in/data.ts'
import { openDexcomStandIn } from '../../src/wearables/providers/dexcom_v3/stand-in/server.ts'
import { newGoogleUser } from '../../src/wearables/providers/google_health/stand-in/data.ts'
import { openGoogleStandIn } from '../../src/wearables/providers/google_health/stand-in/server.ts'
import { newOuraUser } from '../../src/wearables/providers/oura/stand-in/data.ts'
import { openOuraStandIn } from '../../src/wearables/providers/oura/stand-in/server.ts'
import { newWhoopUser } from '../../src/wearables/providers/whoop/stand-in/data.ts'
import { openWhoopStandIn } from '../../src/wearables/providers/whoop/stand-in/server.ts'
import { newWithingsUser } from '../../src/wearables/providers/withings/stand-in/data.ts'
import { openWithingsStandIn } from '../../src/wearables/providers/withings/stand-in/server.ts'
import { atEnd } from './at-end.ts'
import { sharedClock } from './clouds.ts'
import { grantAccess, type OAuthSlug } from './consent.ts'

/** Some clouds have numbers as IDs of accounts. */
export const ACCOUNT = '1001'
const DAYS = 4

/** A stand-in of each cloud with one account, and a service with their clock. */
export async function allClouds() {
  const { noon, options, start } = sharedClock()
  const withAccount = <User>(newUser: (id: string, until: string, days: number) => User) => ({
    ...options,
    users: [newUser(ACCOUNT, noon, DAYS)],
  })
  const clouds = {
    oura: await openOuraStandIn(withAccount(newOuraUser)),
    withings: await openWithingsStandIn(withAccount(newWithingsUser)),
    whoop_v2: await openWhoopStandIn(withAccount(newWhoopUser)),
    google_health: await openGoogleStandIn(withAccount(newGoogleUser)),
    dexcom_v3: await openDexcomStandIn(withAccount(newDexcomUser)),
  }
  const slugs = Object.keys(clouds) as (keyof typeof clouds)[]
  for (const slug of slugs) atEnd(clouds[slug].close)

  /** Starts the service and connects every account, without the scopes that a case leaves out. The team wants little history. */
  async function connectAll(cases: Partial<Record<OAuthSlug, { without?: string[] }>>) {
    const w = await start({ OAUTH_SOURCES: JSON.stringify(Object.fromEntries(slugs.map((slug) => [slug, clouds[slug].setting]))) })
    const t = await w.tenant()
    const providers = Object.fromEntries(slugs.map((slug) => [slug, { default: { historical_days_to_pull: 3 } }]))
    const params = { org_id: t.org_id, env: 'sandbox', region: 'us' } as const
    await t.admin.putPullPreferences({ params, body: { team_ids: [t.team_id], providers } })
    const users = new Map<OAuthSlug, string>()
    for (const slug of slugs) users.set(slug, await grantAccess(w.base, slug, t.api, ACCOUNT, { without: cases[slug]?.without ?? [] }))
    await w.runJobs()
    return { w, t, userOf: (slug: OAuthSlug) => users.get(slug) as string }
  }

  return { noon, clouds, connectAll }
}
