import { beforeAll, describe, expect, test } from 'vitest'
import { resourcesOf, sources } from '../../src/contract/tenants/sources.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/time.ts'
import { lockUser } from '../../src/tenants/users/actions.ts'
import { ensureDemoConnection } from '../../src/wearables/link/demo.ts'
import { schedulePull } from '../../src/wearables/pulls/actions.ts'
import { stayIdle } from '../support/hold-lock.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { aSample, holdBackfills, push, userEvents } from '../support/wearables.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
  w.setTimeToNoon()
  // A failed pull is due again after ten seconds, and a busy machine may need longer for one line of a test.
  w.stopTime()
})

const daysAgo = (days: number) => new Date(Date.parse(w.app.wall()) - days * DAY).toISOString().slice(0, 10)

async function pullsOf({ api }: Tenant, user_id: string) {
  const { data } = await api.getHistoricalPulls({ query: { user_id } })
  return data[0]?.provider['fitbit'] ?? { pulled: {}, not_pulled: [] }
}

/** Counts resources by pull state. */
async function states(t: Tenant, user_id: string) {
  const { pulled } = await pullsOf(t, user_id)
  const statuses = Object.values(pulled).map(({ status, error_details }) => (error_details ? `${status} ${error_details}` : status))
  return Object.fromEntries([...Map.groupBy(statuses, (name) => name)].map(([name, all]) => [name, all.length]))
}

/** Holds a lock on a day of heart rates that the demo provider writes, until `release` is called. */
async function holdDay(user_id: string) {
  const day = daysAgo(10)
  const where = `user_id = '${user_id}' and resource = 'heartrate' and day = '${day}'`
  const [row] = await query(w.url, `select * from sample_days where ${where}`)
  await query(w.url, `delete from sample_days where ${where}`)
  const held = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const transaction = w.app.db
    .transaction()
    .execute(async (db) => {
      await stayIdle(db)
      await db
        .insertInto('sample_days')
        .values({ ...row, day } as never)
        .execute()
      held.resolve()
      await end.promise
      throw new Error('undone')
    })
    .catch(() => {})
  await held.promise
  return {
    day,
    release: async () => {
      end.resolve()
      await transaction
    },
  }
}

const trigger = ({ api }: Tenant, user_id: string) =>
  api.bulkTriggerHistoricalPull({ body: { user_ids: [user_id], provider: 'fitbit', wait_for_completion: true } })

describe('historical pulls', () => {
  let t: Tenant
  let user_id: string
  beforeAll(async () => {
    t = await w.tenant()
    user_id = await aUser(t.api)
    await t.api.connectDemo({ body: { user_id, provider: 'fitbit' } })
  })

  test('report success per resource', async () => {
    const { pulled, not_pulled } = await pullsOf(t, user_id)
    expect(not_pulled).toEqual([])
    expect(Object.keys(pulled)).toEqual(expect.arrayContaining(resourcesOf(sources.fitbit)))
    expect(new Set(Object.values(pulled).map(({ status }) => status))).toEqual(new Set(['success']))
    expect(pulled['heartrate']).toMatchObject({
      range_start: `${daysAgo(31)}T00:00:00.000Z`,
      range_end: `${daysAgo(1)}T00:00:00.000Z`,
      days_with_data: 30,
      timeline: { scheduled_at: expect.any(String), started_at: expect.any(String), ended_at: expect.any(String) },
      error_details: null,
    })
  })

  test('emit no event when a repeated pull finds nothing new', async () => {
    const past = async () => (await userEvents(w.app, t.team_id, user_id)).filter(({ event_type }) => event_type.startsWith('historical.'))
    const before = await past()
    const scheduled = async () => (await pullsOf(t, user_id)).pulled['sleep']?.timeline.scheduled_at
    const first = await scheduled()
    w.advanceTime(SECOND)
    expect(await trigger(t, user_id)).toEqual({ user_ids_triggered: [user_id], user_ids_failed: [] })
    expect(Object.keys(await states(t, user_id))).toEqual(['success'])
    expect(Date.parse((await scheduled()) as string)).toBeGreaterThan(Date.parse(first as string))
    expect(await past()).toEqual(before)
  })

  test('retry after lock contention and then succeed', async () => {
    const { day, release } = await holdDay(user_id)
    expect(await trigger(t, user_id)).toEqual({ user_ids_triggered: [user_id], user_ids_failed: [] })
    const { pulled } = await pullsOf(t, user_id)
    expect(pulled['heartrate']).toMatchObject({ status: 'retrying', error_details: 'resource_contention', timeline: { ended_at: null } })
    await w.runJobs()
    expect(Object.keys(await states(t, user_id))).toContain('retrying resource_contention')

    await release()
    w.advanceTime(10 * SECOND)
    await w.runJobs()
    expect(Object.keys(await states(t, user_id))).toEqual(['success'])
    const read = { params: { user_id, resource: 'heartrate' }, query: { start_date: day, end_date: day } }
    expect(Object.values((await t.api.listSamples(read)).groups)).toHaveLength(1)
  })

  test('fail after the last attempt', async () => {
    const { release } = await holdDay(user_id)
    await trigger(t, user_id)
    expect(Object.keys(await states(t, user_id))).toContain('retrying resource_contention')
    // Skips to the last attempt.
    await query(w.url, `update connections set pull_tries = 4 where user_id = '${user_id}'`)
    w.advanceTime(HOUR)
    await w.runJobs()
    expect(Object.keys(await states(t, user_id))).toContain('failure retry_quota_exhausted')
    await release()
    w.advanceTime(DAY)
    await w.runJobs()
    expect(Object.keys(await states(t, user_id))).toContain('failure retry_quota_exhausted')
  })

  test('are in progress while they run and are taken over after a crash', async () => {
    const user_id = await aUser(t.api)
    await inTransaction(w.app, async (app) => ensureDemoConnection(app, await lockUser(app, t.team_id, user_id), 'fitbit'))
    expect(Object.keys(await states(t, user_id))).toEqual(['in_progress'])
    expect((await pullsOf(t, user_id)).pulled['sleep']).toMatchObject({ range_start: null, timeline: { ended_at: null } })
    await w.runJobs()
    expect(Object.keys(await states(t, user_id))).toEqual(['in_progress'])
    w.advanceTime(2 * MINUTE)
    await w.runJobs()
    expect(Object.keys(await states(t, user_id))).toEqual(['success'])
    const types = (await userEvents(w.app, t.team_id, user_id)).map(({ event_type }) => event_type)
    expect(types).toEqual(expect.arrayContaining(['historical.data.sleep.created', 'daily.data.sleep.created']))
  })

  test('end with the connection', async () => {
    const user_id = await aUser(t.api)
    const { connection } = await inTransaction(w.app, async (app) =>
      ensureDemoConnection(app, await lockUser(app, t.team_id, user_id), 'fitbit'),
    )
    await schedulePull(w.app, connection)
    await t.api.endConnection({ params: { user_id, provider: 'fitbit' } })
    expect(Object.keys(await states(t, user_id))).toEqual(['failure non_retriable_error'])
    w.advanceTime(2 * MINUTE)
    await w.runJobs()
    expect((await userEvents(w.app, t.team_id, user_id)).map(({ event_type }) => event_type)).toEqual(['provider.connection.created'])
  })

  test('stop when the connection ends during the pull', async () => {
    const user_id = await aUser(t.api)
    await query(
      w.url,
      `create function end_meanwhile() returns trigger language plpgsql as $$ begin
         update connections set ended_at = now() where team_id = '${t.team_id}' and user_id = '${user_id}'; return null;
       end $$`,
    )
    await query(
      w.url,
      `create trigger ends after insert on summaries for each row when (new.user_id = '${user_id}') execute function end_meanwhile()`,
    )
    const response = t.api.connectDemo({ body: { user_id, provider: 'fitbit' } })
    await response.finally(() => query(w.url, 'drop function end_meanwhile cascade'))
    expect((await userEvents(w.app, t.team_id, user_id)).map(({ event_type }) => event_type)).toEqual([
      'provider.connection.created',
      'historical.data.activity.created',
    ])
  })
})

test('live data never waits for a running backfill', async () => {
  const t = await w.tenant()
  await aWebhook(t, { url: (await aReceiver()).url })
  const user_id = await aUser(t.api)
  const past = (month: string) => ({
    stage: 'historical',
    start_date: `2026-${month}-01T00:00:00Z`,
    end_date: `2026-${month}-28T00:00:00Z`,
  })
  const beat = (start_date: string) => aSample(start_date, 60, { product_type: 'Tidemark 2' })
  await push(t.api, user_id, 'heartrate', [beat('2026-01-10T09:00:00Z')], past('01'))

  // Blocks the next backfill after it has written everything but its end.
  const release = await holdBackfills(w.app, t.team_id, user_id)
  const backfill = push(t.api, user_id, 'heartrate', [beat('2026-02-10T09:00:00Z')], past('02'))
  await waitFor(async () => expect(await lockWaits(w.url)).toHaveLength(1))

  expect(await push(t.api, user_id, 'heartrate', [beat('2026-03-10T09:00:00Z')])).toMatchObject({ success: true, created: 1 })
  const typesNow = async () => (await userEvents(w.app, t.team_id, user_id)).map(({ event_type }) => event_type)
  expect((await typesNow()).slice(-2)).toEqual(['historical.data.heartrate.created', 'daily.data.heartrate.created'])
  expect(await lockWaits(w.url)).toHaveLength(1)

  await release()
  expect(await backfill).toMatchObject({ success: true, created: 1 })
  expect((await typesNow()).at(-1)).toBe('historical.data.heartrate.created')
  const { data } = await t.api.getUserResources({ query: { user_id } })
  expect(data[0]?.provider['apple_health_kit']?.['heartrate']).toMatchObject({
    oldest_data: '2026-01-10T09:00:00.000Z',
    newest_data: '2026-03-10T09:00:00.000Z',
    sent_count: 1,
  })
})
