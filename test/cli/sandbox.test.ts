import { expect, test } from 'vitest'
import { placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const env = { ASSAY_URL: w.base, ASSAY_API_KEY: w.team_api_key }
const cli = assay(w.url, env)

test('shows and advances the clock', async () => {
  expect(await cli.json('sandbox', 'clock')).toMatchObject({ offset_seconds: 0 })
  expect(await cli.json('sandbox', 'advance', '--days', '2')).toMatchObject({ offset_seconds: 172_800 })
  expect((await cli.run('sandbox', 'advance', '--seconds', '10')).out).toMatch(/, 172810 s from real time\n$/)
  expect(await cli.run('sandbox', 'advance')).toMatchObject({ code: 2, err: expect.stringContaining('Pass one of --days') })
})

test('seed creates the same users and orders every time and keeps existing ones', async () => {
  const made = await cli.json('seed', '--users', '8', '--orders', '3', '--seed', 'reef')
  expect(made).toMatchObject({ users: 8, there: 0 })
  expect(made.orders).toBeGreaterThan(4)
  expect((await w.api.getMetrics()).number_of_ordered_tests).toBe(made.orders)
  expect(await cli.json('seed', '--users', '8', '--orders', '3', '--seed', 'reef')).toEqual({ users: 0, there: 8, orders: 0, results: 0 })
  const other = await w.tenant()
  expect(
    await assay(w.url, { ...env, ASSAY_API_KEY: other.team_api_key }).json('seed', '--users', '8', '--orders', '3', '--seed', 'reef'),
  ).toEqual(made)
  const summary = async (api: typeof w.api) =>
    (await api.listOrders({ query: { size: 100 } })).orders
      .map(({ lab_test, status, interpretation }) => [lab_test.slug, status, interpretation])
      .sort()
  expect(await summary(other.api)).toEqual(await summary(w.api))
})

test('reset deletes users, orders and events and keeps the configuration', async () => {
  const params = { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const }
  const webhook = await w.admin.createWebhook({ params, body: { url: 'http://127.0.0.1:9876/hooks' } })
  await placeOrder(w.api)
  await w.runJobs()
  await w.api.readInbox()
  const { users, orders } = await cli.json('sandbox', 'reset', '--team', w.team_id)
  expect([users > 8, orders > 4]).toEqual([true, true])
  expect(await w.api.listUsers()).toMatchObject({ total: 0 })
  expect(await w.api.listOrders()).toMatchObject({ total: 0 })
  expect((await w.api.listEvents({ query: {} })).events).toEqual([])
  expect(await w.api.getClock()).toMatchObject({ offset_seconds: 0 })
  expect((await w.admin.listWebhooks({ params })).data.map(({ id }) => id)).toContain(webhook.id)
  for (const table of [
    'sealing_keys where user_id is not null',
    'order_events where true',
    'results where true',
    'lab_samples where true',
    'lab_fillers where true',
    'user_info where true',
  ])
    expect(await query(w.url, `select from ${table} and team_id = $1`, [w.team_id]), table).toEqual([])
  const again = await placeOrder(w.api)
  await w.runJobs()
  expect(again.last_event.status).toBe('received.walk_in_test.ordered')
})

test('reset rejects another team or no team and deletes nothing', async () => {
  const other = await w.tenant()
  const { total } = await w.api.listUsers()
  expect(await cli.run('sandbox', 'reset', '--team', other.team_id)).toMatchObject({
    code: 1,
    err: expect.stringContaining('team_id is not the team of this key'),
  })
  expect(await errorOf(other.api.resetTeam({ body: { team_id: newUuid() } }))).toMatchObject({
    status: 400,
    detail: { error_type: 'NOT_THE_TEAM' },
  })
  expect((await cli.run('sandbox', 'reset')).code).toBe(2)
  expect((await w.api.listUsers()).total).toBe(total)
})
