import { expect, test } from 'vitest'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { HOUR, SECOND } from '../../src/platform/time.ts'
import { ok, outcome } from '../support/delivery.ts'
import { localDelivery } from '../support/local-delivery.ts'
import { query } from '../support/query.ts'
import { waitFor } from '../support/webhooks.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)

/** Rejects a message without saying that the receiver is down, so the webhook is not paused. */
const wrong = outcome(400)

const up = (to: number) => Array.from({ length: to }, (_, n) => n + 1)

test('a failing key delays only its own messages, which follow in order after a success', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({}, ({ key }) => (key === 'a' ? wrong : ok))
  await team.emit('a', 'b', 'a', 'b', 'a', 'c')
  await waitFor(async () => expect(await webhook.afterNo()).toBe(6))
  expect(webhook.received.filter(({ key }) => key !== 'a').map(({ n }) => n)).toEqual([2, 6, 4])
  expect(webhook.received.filter(({ key }) => key === 'a').map(({ n }) => n)).toEqual([1])
  expect(await webhook.parked()).toEqual(['a 1', 'a 3', 'a 5'])
  const pending = await webhook.pending()
  expect(pending.map(({ key, sequence, behind, attempts }) => [key, sequence, behind, attempts])).toEqual([
    ['a', 1, 0, 1],
    ['a', 3, 1, 0],
    ['a', 5, 2, 0],
  ])
  expect(pending.map(({ next_try_at }) => next_try_at)).toEqual([(await webhook.get()).next_try_at, null, null])

  // Later messages of the key wait too.
  await team.emit('a', 'd')
  await waitFor(async () => expect(await webhook.parked()).toEqual(['a 1', 'a 3', 'a 5', 'a 7']))
  expect(webhook.numbers()).not.toContain(7)

  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  expect(webhook.received.filter(({ key }) => key === 'a').map(({ n }) => n)).toEqual([1, 1, 3, 5, 7])
  expect(await webhook.parked()).toEqual([])
  expect(await query(w.url, 'select from parked where webhook_id = $1', [webhook.id])).toEqual([])
})

test('webhook-previous links every message to the one before it, in retries, parked messages and other keys too', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({}, ({ n }) => (n === 2 ? wrong : ok))
  await team.emit('a', 'b', 'b')
  await team.emitOther('a')
  const filtered = await team.webhook({ filter_types: ['message.*'] })
  await team.emit('b')
  await team.emitOther('b')
  await waitFor(async () => expect(await webhook.parked()).toEqual(['b 2', 'b 3', 'b 5', 'b 6']))
  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  const previousOf = new Map(webhook.received.map(({ n, previous }) => [n, previous]))
  expect([...previousOf].toSorted(([a], [b]) => a - b)).toEqual([[1, undefined], ...[2, 3, 4, 5, 6].map((n) => [n, n - 1])])
  expect(webhook.received.filter(({ n }) => n === 2).map(({ previous }) => previous)).toEqual([1, 1])
  expect((await webhook.attempts()).map(({ sequence }) => sequence).toSorted()).toEqual([1, 2, 2, 3, 4, 5, 6])

  // It counts messages of the webhook only, and another worker continues the chain.
  await filtered.settled()
  await delivery.stop()
  await delivery.start()
  await team.emit('a')
  await team.emitOther('c')
  await filtered.has(2)
  expect(filtered.chain()).toEqual([
    [6, undefined],
    [8, 6],
  ])
  await webhook.settled()
  expect(webhook.chain().slice(-2)).toEqual([
    [7, 6],
    [8, 7],
  ])
})

test.each(['per_key', 'strict'] as const)('after the last attempt of a message, a %s webhook receives the next one', async (ordering) => {
  const team = await delivery.team()
  const webhook = await team.webhook({ ordering }, ({ n }) => (n === 1 ? wrong : ok))
  await team.emit('a', 'a')
  for (let attempt = 1; attempt <= 8; attempt++) {
    await waitFor(async () => expect(await webhook.attempts()).toHaveLength(attempt + (attempt === 8 ? 1 : 0)))
    if (attempt < 8) {
      expect(webhook.numbers()).toEqual(Array(attempt).fill(1))
      team.pass(12 * HOUR)
    }
  }
  await webhook.has(9)
  expect(webhook.chain()).toEqual([...Array(8).fill([1, undefined]), [2, 1]])
  await webhook.settled()
  const [first] = await webhook.attempts({ outcome: 'exhausted' })
  expect(await webhook.position(1)).toEqual({ sequence: 1, state: 'exhausted', event_id: first?.event_id })
})

test('a strict webhook waits at its failing message, and delays no other webhook', async () => {
  const team = await delivery.team()
  const strict = await team.webhook({ ordering: 'strict' }, () => wrong)
  const other = await team.webhook()
  await team.emit('a', 'b', 'c')
  await other.settled()
  await waitFor(async () => expect(await strict.attempts()).toHaveLength(1))
  expect([strict.numbers(), await strict.parked()]).toEqual([[1], []])
  const pending = await strict.pending()
  expect(pending.map(({ key, sequence, attempts, behind }) => [key, sequence, attempts, behind])).toEqual([
    ['*', 1, 1, 0],
    ['*', 2, 0, 0],
    ['*', 3, 0, 0],
  ])
  expect(pending.map(({ next_try_at }) => next_try_at)).toEqual([(await strict.attempts())[0]?.next_try_at, null, null])

  // The wait is stored, so a worker that takes over counts on.
  await delivery.stop()
  await delivery.start()
  team.pass(10 * SECOND)
  await strict.has(2)
  await waitFor(async () => expect((await strict.attempts()).map(({ attempt }) => attempt)).toEqual([2, 1]))
  strict.respond(() => ok)
  team.pass(6 * 60 * SECOND)
  await strict.settled()
  expect(strict.chain()).toEqual([...Array(3).fill([1, undefined]), [2, 1], [3, 2]])
})

test('a failing message of an unordered webhook delays no other, not even of its key', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({ ordering: 'unordered' }, ({ n }) => (n === 1 ? wrong : ok))
  await team.emit('a', 'a', 'a')
  await waitFor(async () => expect(await webhook.afterNo()).toBe(3))
  expect(webhook.numbers().toSorted()).toEqual([1, 2, 3])
  const [message] = webhook.received
  expect(await webhook.parked()).toEqual([`${message?.id} 1`])
  expect(webhook.received.every(({ key, id }) => key === id)).toBe(true)
  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  expect(webhook.chain().at(-1)).toEqual([1, undefined])
})

test('a slow message holds up its own key only, and parks when the window behind it is full', async () => {
  const team = await delivery.team()
  const slow = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({}, ({ n }) => (n === 1 ? slow.promise : ok))
  await team.emit('slow', 'slow', ...up(20).map((n) => `key ${n}`))
  await webhook.has(21)
  await waitFor(async () => expect((await webhook.attempts()).length).toBe(20))
  expect([await webhook.afterNo(), await webhook.parked()]).toEqual([0, []])
  // A message that repeats after a crash is one of those behind the slow one, so at most the window.
  await team.emit(...up(300).map((n) => `other ${n}`))
  await webhook.has(321)
  await waitFor(async () => expect(await webhook.afterNo()).toBe(322))
  expect(await webhook.parked()).toEqual(['slow 1', 'slow 2'])
  slow.resolve(ok)
  await webhook.settled()
  expect(webhook.received.filter(({ key }) => key === 'slow').map(({ n }) => n)).toEqual([1, 2])
})

test('parks 1,000 keys, then reads on once half of them are gone', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({ ordering: 'unordered' }, () => wrong)
  await team.emit(...up(1500).map((n) => `key ${n}`))
  await waitFor(async () => expect((await webhook.parked()).length).toBeGreaterThanOrEqual(1000))
  await waitFor(async () => expect(await webhook.attempts({ limit: 1 } as object)).toHaveLength(1))
  const parked = await waitFor(async () => {
    const parked = (await webhook.parked()).length
    expect([parked, await webhook.afterNo()]).toEqual([webhook.received.length, webhook.received.length])
    return parked
  })
  // What was in the window is parked too.
  expect(parked).toBeLessThan(1000 + 256)
  expect((await webhook.get()).waiting).toBe(1500)
  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  expect(new Set(webhook.numbers()).size).toBe(1500)
  expect(webhook.received.length).toBe(1500 + parked)
})
