import { expect, test } from 'vitest'
import { DAY } from '../../src/platform/time.ts'
import { finishErasures } from '../support/erasure.ts'
import { aCriticalOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { tablesWith } from '../support/tables.ts'
import { replica, world } from '../support/world.ts'

// docs/security.md lists the data that remains after erasure. Change both together.
test('erasing a user leaves anonymous order rows, audit rows and the record of the erasure', async () => {
  const w = await world()
  const { api, admin, org_id, team_id } = await w.tenant()
  await admin.createWebhook({ params: { org_id, team_id, env: 'sandbox' }, body: { url: 'http://127.0.0.1:9977/', disabled: true } })
  const { id, user_id } = await aCriticalOrder(api)
  await api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
  await api.deleteUser({ params: { user_id } })
  await api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
  await finishErasures(w)
  expect(await tablesWith(w.url, user_id)).toEqual(['audit_log', 'erasures'])
  expect(await tablesWith(w.url, id)).toEqual(['audit_log', 'critical_results', 'order_events', 'orders'])
  const [order] = await query<Record<string, unknown>>(w.url, 'select * from orders where id = $1', [id])
  expect(order).toMatchObject({ user_id: null, sealed: null, terms: [], seed: '', sample_id: null, health_insurance_id: null })
  expect(order).toMatchObject({ low_level: 'completed', interpretation: 'critical', zone: 'America/Phoenix' })
})

test('what a webhook parks of an erased user between both passes over the log is erased', async () => {
  const w = await replica()
  const { api, admin, org_id, team_id } = await w.tenant()
  const webhook = await admin.createWebhook({ params: { org_id, team_id, env: 'sandbox' }, body: { url: 'http://127.0.0.1:9977/' } })
  const { user_id } = await api.createUser({ body: { client_user_id: 'ward-7' } })
  await w.runJobs()
  await api.deleteUser({ params: { user_id } })
  await api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
  await w.runJobs()
  const values = [team_id, webhook.id, `user:${user_id}`]
  await query(w.url, 'insert into parked (team_id, webhook_id, key, attempts, retry_at) values ($1, $2, $3, 1, now())', values)
  await query(
    w.url,
    `insert into parked_messages (team_id, webhook_id, key, no, logged_at)
     select $1, $2, $3, no, logged_at from events where team_id = $1 and event_type = 'user.created'`,
    values,
  )
  await query(w.url, 'insert into parked (team_id, webhook_id, key, attempts, retry_at) values ($1, $2, $3, 1, now())', [
    team_id,
    webhook.id,
    `${user_id}:steps`,
  ])
  await finishErasures(w)
  expect(await tablesWith(w.url, user_id)).toEqual(['audit_log', 'erasures'])
})
