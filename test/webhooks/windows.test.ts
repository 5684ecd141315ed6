import { expect, test } from 'vitest'
import { HOUR } from '../../src/platform/time.ts'
import { aWebhook, emitTo } from '../support/delivery.ts'
import { modelWorker, outcomeOf } from '../support/delivery-model.ts'
import { query } from '../support/query.ts'
import { waitFor } from '../support/webhooks.ts'
import { replica } from '../support/world.ts'

const w = await replica()

const up = (to: number) => Array.from({ length: to }, (_, n) => n + 1)

/** A worker of a team with 300 events and a webhook that gets this response. */
async function workerOf(status: number, ordering: 'per_key' | 'strict') {
  const tenant = await w.tenant()
  const webhook = await aWebhook(tenant, '/', { ordering })
  await emitTo(
    w.app,
    tenant.team_id,
    up(300).map((n) => `key ${n}`),
  )
  let response = outcomeOf(status)
  const worker = await modelWorker(w.app, w.url, tenant.team_id, async () => response)
  worker.wake()
  const listAttempts = () => query(w.url, 'select from attempts where webhook_id = $1', [webhook.id])
  await waitFor(async () => expect([(await listAttempts()).length > 0, worker.isBusy(), worker.errors]).toEqual([true, false, []]))
  const respond = (status: number) => {
    response = outcomeOf(status)
  }
  return { worker, webhook, respond, params: { ...tenant, env: 'sandbox' as const, webhook_id: webhook.id }, admin: tenant.admin }
}

test.each([
  [503, 'per_key'],
  [400, 'strict'],
] as const)('after status %i, a %s webhook holds nothing until it goes on', async (status, ordering) => {
  const { worker, webhook, respond } = await workerOf(status, ordering)
  expect(worker.countHeld()).toBe(0)
  respond(200)
  w.advanceTime(HOUR)
  const numbers = async () => {
    await worker.tick()
    const rows = await query<{ no: number }>(w.url, 'select distinct no::int from attempts where webhook_id = $1 and status = 200', [
      webhook.id,
    ])
    return rows.length
  }
  await waitFor(async () => expect(await numbers()).toBe(300))
  await worker.end()
})

test('a disabled webhook holds nothing', async () => {
  const { worker, params, admin } = await workerOf(400, 'strict')
  await admin.patchWebhook({ params, body: { disabled: true } })
  worker.wake()
  await waitFor(() => expect(worker.isBusy()).toBe(false))
  expect(worker.countHeld()).toBe(0)
  await worker.end()
})
