import { expect, test } from 'vitest'
import { DAY } from '../../src/platform/time.ts'
import { finishErasures } from '../support/erasure.ts'
import { aCriticalOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { tablesWith } from '../support/tables.ts'
import { world } from '../support/world.ts'

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
