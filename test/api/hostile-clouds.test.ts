import { describe, expect, test } from 'vitest'
import { DAY, HOUR, SECOND } from '../../src/platform/time.ts'
import { cloudSlugs } from '../../src/wearables/providers/clouds.ts'
import type { Behavior } from '../../src/wearables/providers/stand-in/server.ts'
import { ACCOUNT, allClouds } from '../support/all-clouds.ts'
import type { OAuthSlug } from '../support/consent.ts'
import { query } from '../support/query.ts'
import { userEvents } from '../support/wearables.ts'
import { errorOf } from '../support/world.ts'

const { noon, clouds: standIns, connectAll } = await allClouds()
const { oura, withings, whoop_v2: whoop, google_health: google, dexcom_v3: dexcom } = standIns
const after = (ms: number) => new Date(Date.parse(noon) + ms).toISOString()

type Case = {
  cloud: { behavior: Behavior }
  /** A page that says that the same page comes next. */
  endless: object
  /** Scopes that the user does not grant, so that the test is short. */
  without?: string[]
  /** Adds an object whose times are wrong by years. */
  skew(): void
}

const clouds: Partial<Record<OAuthSlug, Case>> = {
  oura: {
    cloud: oura,
    without: ['heartrate', 'workout', 'personal', 'spo2', 'heart_health'],
    endless: { data: [], next_token: 'again' },
    skew: () => {
      const times = { bedtime_start: after(400 * DAY), bedtime_end: after(400 * DAY + 8 * HOUR) }
      oura.put(ACCOUNT, 'sleep', { id: 'skewed', day: noon.slice(0, 10), type: 'long_sleep', ...times })
    },
  },
  withings: {
    cloud: withings,
    endless: { status: 0, body: { measuregrps: [], more: 1, offset: 1 } },
    without: ['user.activity'],
    skew: () => {
      const [group] = withings.users.get(ACCOUNT)?.groups ?? []
      withings.put(ACCOUNT, 'groups', { ...group, id: 99_999, date: Math.floor(Date.parse(after(400 * DAY)) / SECOND) })
    },
  },
  whoop_v2: {
    cloud: whoop,
    endless: { records: [], next_token: 'again' },
    without: ['read:cycles', 'read:workout', 'read:body_measurement'],
    skew: () => {
      const sleep = [...(whoop.users.get(ACCOUNT)?.sleeps.values() ?? [])].at(-1)
      whoop.put(ACCOUNT, 'sleeps', { ...sleep, id: 'skewed', end: after(400 * DAY) })
    },
  },
  google_health: {
    cloud: google,
    endless: { dataPoints: [], rollupDataPoints: [], nextPageToken: 'again' },
    without: ['activity_and_fitness', 'health_metrics_and_measurements'].map(
      (name) => `https://www.googleapis.com/auth/googlehealth.${name}.readonly`,
    ),
    skew: () => {
      google.putPoint(
        ACCOUNT,
        'sleep',
        { id: 'skewed', at: Date.parse(after(-400 * DAY)), end: Date.parse(after(-HOUR)) },
        { type: 'CLASSIC' },
      )
    },
  },
  dexcom_v3: {
    cloud: dexcom,
    endless: { recordType: 'egv', records: [], next_token: 'again' },
    skew: () =>
      dexcom.put(ACCOUNT, 'egvs', { id: '', at: after(-HOUR), systemTime: '2099-01-01T00:00:00', displayTime: '2099-01-01T00:00:00' }),
  },
}
const cases = Object.entries(clouds) as [OAuthSlug, Case][]
const { w, t, userOf } = await connectAll(clouds)

test('every cloud that Assay reads is tested', () => {
  expect(Object.keys(clouds).sort()).toEqual([...cloudSlugs].sort())
})

const refresh = (slug: OAuthSlug) => t.api.refreshUser({ params: { user_id: userOf(slug) } })

const statusOf = async (slug: OAuthSlug) => (await t.api.listConnections({ params: { user_id: userOf(slug) } })).providers[0]

const errorsOf = async (slug: OAuthSlug) =>
  (await query<{ error: string | null }>(w.url, 'select distinct error from pull_jobs where user_id = $1', [userOf(slug)])).map(
    ({ error }) => error,
  )

const hostile = (endless: object): [string, { status: number; body: string }][] => [
  ['a page of HTML', { status: 200, body: '<!doctype html><title>Maintenance</title>' }],
  ['nothing', { status: 200, body: '' }],
  ['a list instead of an object', { status: 200, body: '[]' }],
  [
    'wrong types',
    {
      status: 200,
      body: JSON.stringify({ id: 7, data: 7, dataPoints: 7, recordType: 7, records: 7, status: '', body: 7, sleep: 7, error: 7 }),
    },
  ],
  ['a hundred thousand open brackets', { status: 200, body: '['.repeat(100_000) }],
  ['an endless list', { status: 200, body: JSON.stringify(endless) }],
  ['ten megabytes', { status: 200, body: JSON.stringify({ ...endless, x: 'x'.repeat(10_000_000) }) }],
  ['a redirect to a private address', { status: 302, body: '' }],
]

describe.each(cases)('%s', (slug, { cloud, endless, skew }) => {
  const [other] = cases.map(([name]) => name).filter((name) => name !== slug) as [OAuthSlug]

  test('a hostile response fails the read of one connection, which works again afterwards', async () => {
    for (const [name, response] of hostile(endless)) {
      // A user can be refreshed a few times per hour.
      w.advanceTime(HOUR)
      cloud.behavior.respondWith = response
      expect(await errorOf(refresh(slug)), name).toMatchObject({ detail: { error_type: 'REFRESH_FAILED' } })
      expect(await statusOf(slug), name).toMatchObject({ status: 'connected' })
      expect(await errorsOf(slug), name).toContain('malformed')
    }
    expect(await refresh(other)).toMatchObject({ refreshed_sources: [other] })
    cloud.behavior.respondWith = undefined
    expect(await refresh(slug)).toMatchObject({ refreshed_sources: [slug] })
    expect(await errorsOf(slug)).not.toContain('malformed')
  })

  test('an object from a clock that is years wrong is left out', async () => {
    const user_id = userOf(slug)
    const before = (await userEvents(w.app, t.team_id, user_id)).length
    skew()
    expect(await refresh(slug)).toMatchObject({ refreshed_sources: [slug] })
    expect((await userEvents(w.app, t.team_id, user_id)).slice(before)).toEqual([])
    expect(await statusOf(slug)).toMatchObject({ status: 'connected' })
  })
})
