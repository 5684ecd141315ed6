import { expect, test } from 'vitest'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { DAY, SECOND } from '../../src/platform/time.ts'
import { ok, outcome } from '../support/delivery.ts'
import { localDelivery } from '../support/local-delivery.ts'
import { query } from '../support/query.ts'
import { waitFor } from '../support/webhooks.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)

const wrong = outcome(400)

/** A user whose creation and deletion a webhook is about to receive, and who is erased meanwhile. */
async function userInFlight(ordering: 'per_key' | 'strict', slowNo: number) {
  const team = await delivery.team()
  const slow = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({ ordering, filter_types: ['user.*'] }, ({ n }) => (n === slowNo ? slow.promise : ok))
  const { user_id } = await team.api.createUser({ body: { client_user_id: 'patient' } })
  await team.api.deleteUser({ params: { user_id } })
  await webhook.has(slowNo)
  await team.isLogged(2)
  const erase = async () => {
    await team.api.moveClock({ body: { advance_seconds: (7 * DAY) / SECOND } })
    await waitFor(async () => expect(await query(w.url, 'select from sealing_keys where user_id = $1', [user_id])).toEqual([]))
    await team.isLogged(2)
    webhook.respond(() => ok)
  }
  return { team, webhook, slow, erase, user_id }
}

test('user.deleted behind a message in flight survives the erasure of its user', async () => {
  const { webhook, slow, erase } = await userInFlight('strict', 1)
  await erase()
  slow.resolve(wrong)
  await webhook.settled()
  expect(webhook.chain()).toEqual([
    [1, undefined],
    [2, 1],
  ])
})

test.each(['per_key', 'strict'] as const)('user.deleted that fails after the erasure of its user is sent again (%s)', async (ordering) => {
  const { webhook, slow, erase, user_id } = await userInFlight(ordering, 2)
  await erase()
  slow.resolve(wrong)
  await webhook.settled()
  expect(webhook.numbers()).toEqual([1, 2, 2])
  expect(JSON.parse(webhook.received[2]?.body as string)).toMatchObject({ event_type: 'user.deleted', data: { user_id } })
})

test('a strict webhook counts the attempts of the next message after an erased one from one', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({ ordering: 'strict', filter_types: ['user.created'] }, () => wrong)
  const { user_id } = await team.api.createUser({ body: { client_user_id: 'patient' } })
  await waitFor(async () => expect(await webhook.attempts()).toHaveLength(1))
  await delivery.stop()
  await team.api.deleteUser({ params: { user_id } })
  await team.api.createUser({ body: { client_user_id: 'other' } })
  await team.api.moveClock({ body: { advance_seconds: (7 * DAY) / SECOND } })
  await delivery.start()
  await webhook.has(2)
  await waitFor(async () => expect((await webhook.attempts()).map(({ sequence, attempt }) => [sequence, attempt])).toContainEqual([3, 1]))
  expect(webhook.numbers().at(-1)).toBe(3)
})
