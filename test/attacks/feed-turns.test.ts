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
