import { expect, test } from 'vitest'
import { newRate } from '../../src/delivery/webhooks/sending/run/rate.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { MINUTE, SECOND } from '../../src/platform/time.ts'
import { ok, outcome } from '../support/delivery.ts'
import { localDelivery } from '../support/local-delivery.ts'
import { query } from '../support/query.ts'
import { waitFor } from '../support/webhooks.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)
w.stopTime()

const keys = (count: number) => Array.from({ length: count }, (_, n) => `key ${n}`)

/** How many of `wanted` messages are sent at each moment. */
function takenAt(limit: number | null, moments: number[], wanted = 100) {
  const rate = newRate(0)
  return moments.map((ms) => {
    let taken = 0
    while (taken < wanted && rate.take(limit, ms)) taken++
    return taken
  })
}

test('starts empty, because another worker may just have sent', () => {
  expect(takenAt(5, [0, 199, 200, 200, 600, 1000])).toEqual([0, 0, 1, 0, 2, 2])
})

test('saves up at most one second of unused rate', () => {
  expect(takenAt(5, [60_000, 60_000, 60_400])).toEqual([5, 0, 2])
})

test('takes nothing back when the clock goes back', () => {
  expect(takenAt(5, [1000, 0, 200, 400])).toEqual([5, 0, 1, 1])
})

test('limits nothing without a limit', () => {
  expect(takenAt(null, [0, 0])).toEqual([100, 100])
})

test('a webhook receives as many messages as its rate allows, while earlier requests have no response yet', async () => {
  const team = await delivery.team()
  const response = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({ rate_limit: 5 }, () => response.promise)
  const unlimited = await team.webhook()
  await team.emit(...keys(12))
  await unlimited.settled()
  expect(webhook.received).toEqual([])
  for (const count of [1, 2, 5, 10]) {
    team.pass((count - webhook.received.length) * 200)
    await webhook.has(count)
    // A marker that arrives elsewhere later than any further message would.
    const before = unlimited.received.length
    await team.emit('marker')
    await unlimited.has(before + 1)
    expect(webhook.received).toHaveLength(count)
  }
  response.resolve(ok)
  await waitFor(async () => expect((await webhook.get()).waiting).toBe(6))
  // A message over the limit waits without using up attempts.
  expect((await webhook.attempts()).every(({ attempt }) => attempt === 1)).toBe(true)
  await webhook.patch({ rate_limit: null })
  await webhook.settled()
  expect(webhook.received).toHaveLength(16)
})

test('sends one message at a time to a failing webhook', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({}, () => outcome(503))
  await team.emit(...keys(8))
  await waitFor(async () => expect(await webhook.attempts()).toHaveLength(8))
  const responses: ((outcome: Outcome) => void)[] = []
  webhook.respond(() => new Promise((done) => responses.push(done)))
  const other = await team.webhook()
  const probe = async (count: number) => {
    team.pass(20 * SECOND)
    await webhook.has(count)
    const before = other.received.length
    await team.emit('marker')
    await other.has(before + 1)
    expect(webhook.received).toHaveLength(count)
  }
  await probe(9)
  responses.shift()?.(outcome(503))
  const [row] = await waitFor(async () => {
    const rows = await query<{ trips: number }>(w.url, 'select trips from webhooks where id = $1', [webhook.id])
    expect(rows).toEqual([{ trips: 2 }])
    return rows
  })
  expect(row?.trips).toBe(2)
  team.pass(30 * SECOND)
  await webhook.has(10)
  webhook.respond(() => ok)
  responses.shift()?.(ok)
  team.pass(6 * MINUTE)
  await webhook.settled()
})
