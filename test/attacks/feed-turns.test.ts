import { expect, test } from 'vitest'
import { HOUR, later, MINUTE } from '../../src/platform/time.ts'
import { findDueJobs, MAX_TURNS } from '../../src/wearables/ingestion/store.ts'
import { newOuraUser } from '../../src/wearables/providers/oura/stand-in/data.ts'
import { openOuraStandIn } from '../../src/wearables/providers/oura/stand-in/server.ts'
import { cloudWorld } from '../support/clouds.ts'
import { query } from '../support/query.ts'

const o = await cloudWorld({ slug: 'oura', accounts: ['ada', 'ben'], newUser: newOuraUser, open: openOuraStandIn })

test('a team with thousands of due feeds does not hide the feed of another team', async () => {
  const [large, small] = [await o.shortTenant(), await o.shortTenant()]
  const [crowd, other] = [await o.connect(large, 'ada'), await o.connect(small, 'ben')]
  await o.w.runJobs()
  const now = o.w.app.wall()
  await query(
    o.w.url,
    `insert into pull_jobs (team_id, connection_id, feed, user_id, provider, due_at, live_due_at)
     select team_id, id, 'feed ' || n, user_id, provider, $2::timestamptz, $2::timestamptz from connections, generate_series(1, 2500) n
     where user_id = $1`,
    [crowd, later(now, -HOUR)],
  )
  await query(o.w.url, `update pull_jobs set due_at = $2 where user_id = $1 and feed = 'sleep'`, [other, later(now, -MINUTE)])

  const found = await findDueJobs(o.w.app.db, now, [], 64)
  expect(found.filter(({ team_id }) => team_id === small.team_id)).toMatchObject([{ feed: 'sleep', turn: 1 }])
  expect(found.filter(({ team_id }) => team_id === large.team_id)).toHaveLength(MAX_TURNS)
  expect(found.findIndex(({ team_id }) => team_id === small.team_id)).toBeLessThan(2)

  await o.w.runJobs()
  expect(await query(o.w.url, 'select 1 from pull_jobs where due_at <= $1', [now])).toEqual([])
})

test('feeds that had no application are read once the team sets one up', async () => {
  const t = await o.shortTenant()
  const user_id = await o.connect(t, 'ada')
  await o.w.runJobs()
  await query(o.w.url, 'delete from cloud_clients where team_id = $1', [t.team_id])
  await query(o.w.url, 'update pull_jobs set due_at = null where user_id = $1', [user_id])

  const params = { org_id: t.org_id, env: 'sandbox', region: 'us' } as const
  const { client_id, client_secret } = o.cloud.setting
  await t.admin.putTeamCredential({ params, body: { team_id: t.team_id, provider: 'oura', client_id, client_secret } })
  await o.w.runJobs()
  expect(await query(o.w.url, 'select feed from pull_jobs where user_id = $1 and due_at <= $2', [user_id, o.w.app.wall()])).toEqual([])
  expect(await query(o.w.url, 'select provider from cloud_clients where team_id = $1', [t.team_id])).toEqual([{ provider: 'oura' }])
})
