import { expect } from 'vitest'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import type { StandInOptions } from '../../src/wearables/providers/stand-in/server.ts'
import { atEnd } from './at-end.ts'
import { type Connecting, grantAccess, type OAuthSlug, reachable } from './consent.ts'
import { userEvents } from './wearables.ts'
import { type Tenant, world } from './world.ts'

const client = { client_id: 'harbor-app', client_secret: 'cloud secret' }
export const HISTORY_DAYS = 90

type RunningCloud = { behavior: { down: boolean }; origin: string; setting: { authorize_url: string }; close(): Promise<void> }

type Setup<User, Cloud> = {
  slug: OAuthSlug
  accounts: string[]
  newUser(id: string, until: string, days: number): User
  open(options: StandInOptions<User>): Promise<Cloud>
  env?: Record<string, string>
}

/** The options of stand-ins that share one clock with a service, which stands still at noon. `start` starts the service. */
export function sharedClock() {
  const shared = { base: '', wall: () => new Date().toISOString() }
  const noon = new Date(Math.ceil(Date.now() / DAY) * DAY + DAY / 2).toISOString()
  const options = { client, now: () => shared.wall(), reach: (url: string) => reachable(shared.base, url) }
  async function start(env: Record<string, string>) {
    const w = await world({ env })
    w.stopTime(Date.parse(noon))
    Object.assign(shared, { base: w.base, wall: w.app.wall })
    return w
  }
  return { noon, options, start }
}

/** A stand-in of a cloud and a service. */
export async function cloudWorld<User, Cloud extends RunningCloud>({ slug, accounts, newUser, open, env = {} }: Setup<User, Cloud>) {
  const { noon, options, start } = sharedClock()
  const cloud = await open({ ...options, users: accounts.map((id) => newUser(id, noon, HISTORY_DAYS + 5)) })
  atEnd(cloud.close)
  const w = await start({ OAUTH_SOURCES: JSON.stringify({ [slug]: cloud.setting }), ...env })
  const connect = (t: Tenant, account: string, options?: Connecting) => grantAccess(w.base, slug, t.api, account, options)

  /** A team that wants little history, so that the tests are short. */
  async function shortTenant() {
    const t = await w.tenant()
    const providers = { [slug]: { default: { historical_days_to_pull: 5 } } }
    await t.admin.putPullPreferences({
      params: { org_id: t.org_id, env: 'sandbox', region: 'us' },
      body: { team_ids: [t.team_id], providers },
    })
    return t
  }

  const daysAgo = (days: number) => new Date(Date.parse(w.app.wall()) - days * DAY).toISOString().slice(0, 10)
  const window = { start_date: daysAgo(HISTORY_DAYS - 1), end_date: daysAgo(0) }

  /** Every page of samples. */
  async function samplesOf(t: Tenant, user_id: string, resource: string) {
    const samples: ({ timestamp: string; value: number } & Record<string, unknown>)[] = []
    for (let next_cursor: string | null | undefined; ; ) {
      const page = await t.api.listSamples({ params: { user_id, resource }, query: { ...window, provider: slug, next_cursor } })
      samples.push(...((page.groups[slug] ?? []).flatMap(({ data }) => data) as unknown as typeof samples))
      next_cursor = page.next_cursor
      if (!next_cursor) return samples
    }
  }

  /** The events since a number of them, by type. */
  const typesSince = async (t: Tenant, user_id: string, count = 0) =>
    (await userEvents(w.app, t.team_id, user_id)).slice(count).map(({ event_type }) => event_type)

  const statusOf = async (t: Tenant, user_id: string) => (await t.api.listConnections({ params: { user_id } })).providers[0]

  const pullsOf = async (t: Tenant, user_id: string) =>
    (await t.api.getHistoricalPulls({ query: { user_id } })).data[0]?.provider[slug]?.pulled ?? {}

  /** Takes the cloud down for an hour after an account was connected, and checks what the team sees. */
  async function surviveOutage(t: Tenant, user_id: string) {
    cloud.behavior.down = true
    for (const wait of [0, 10 * SECOND, MINUTE, 10 * MINUTE, 40 * MINUTE]) {
      w.advanceTime(wait)
      await w.runJobs()
    }
    expect((await pullsOf(t, user_id))['sleep']).toMatchObject({ status: 'retrying', error_details: 'provider_unavailable' })
    cloud.behavior.down = false
    w.advanceTime(HOUR)
    await w.runJobs()
    expect((await pullsOf(t, user_id))['sleep']).toMatchObject({ status: 'success', error_details: null })
  }

  return { w, cloud, surviveOutage, connect, shortTenant, daysAgo, window, samplesOf, typesSince, statusOf, pullsOf }
}
