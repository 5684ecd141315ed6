import { expect, test } from 'vitest'
import { applyRetention } from '../../src/delivery/webhooks/repair/retention.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { later, SECOND } from '../../src/platform/time.ts'
import { ok, outcome } from '../support/delivery.ts'
import { ageEvents } from '../support/delivery-model-checks.ts'
import { localDelivery } from '../support/local-delivery.ts'
import { query } from '../support/query.ts'
import { waitFor } from '../support/webhooks.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)

const wrong = outcome(400)

type Team = Awaited<ReturnType<typeof delivery.team>>

/** The event at a position of the log. */
async function eventAt({ team_id }: Team, no: number) {
  const [event] = await query<{ id: string }>(w.url, 'select id from events where team_id = $1 and no = $2', [team_id, no])
  return event?.id as string
}

/** A replay of three messages of one key, whose first one is in flight. */
async function replayInFlight(next: () => Outcome) {
  const team = await delivery.team()
  await team.emit('a', 'a', 'a')
  const response = Promise.withResolvers<Outcome>()
  let requests = 0
  const webhook = await team.webhook({}, () => (++requests === 1 ? response.promise : next()))
  const { id: job_id } = await team.admin.replayWebhook({ params: webhook.params, body: { from: later(w.app.wall(), -SECOND * 1000) } })
  await webhook.has(1)
  const state = async () => (await team.admin.getWebhookJob({ params: { ...webhook.params, job_id } })).state
  return { team, webhook, response, isDone: () => waitFor(async () => expect(await state()).toBe('done')) }
}

test('a message that fails behind a retried one of its key waits with it', async () => {
  const team = await delivery.team()
  const slow = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({}, ({ n }) => (n === 2 ? slow.promise : ok))
  await team.emit('a')
  await webhook.settled()
  await team.emit('a')
  await webhook.has(2)
  expect(await webhook.retry(await eventAt(team, 1))).toMatchObject({ action: 'resent' })
  await team.isLogged(2)
  slow.resolve(wrong)
  await waitFor(async () => expect(await webhook.attempts({ outcome: 'retried' })).toHaveLength(1))
  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  expect(webhook.numbers()).toEqual([1, 2, 1, 2])
})

test('a retried message releases its key when replayed ones are queued behind it', async () => {
  const { team, webhook, response, isDone } = await replayInFlight(() => ok)
  await webhook.retry(await eventAt(team, 3))
  await team.isLogged(3)
  response.resolve(ok)
  await isDone()
  await team.emit('a')
  await webhook.settled()
  expect(webhook.numbers().toSorted()).toEqual([1, 2, 3, 3, 4])
})

test('replayed messages behind a retried one that fails wait with it', async () => {
  const { team, webhook, response, isDone } = await replayInFlight(() => wrong)
  await webhook.retry(await eventAt(team, 3))
  await team.isLogged(3)
  response.resolve(ok)
  await isDone()
  expect(await webhook.parked()).toEqual(['a 2', 'a 3'])
  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  expect(webhook.numbers().slice(-2)).toEqual([2, 3])
})

test('a parked message behind one that expired has all of its attempts', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({}, () => wrong)
  await team.emit('a', 'a')
  await waitFor(async () => expect(await webhook.parked()).toEqual(['a 1', 'a 2']))
  await ageEvents(w.url, team.team_id, 1)
  await applyRetention(w.app)
  await team.isLogged(2)
  expect((await webhook.pending()).map(({ sequence, attempts }) => [sequence, attempts])).toEqual([[2, 0]])
  team.pass(10 * SECOND)
  await waitFor(async () => expect((await webhook.attempts()).map(({ sequence, attempt }) => [sequence, attempt])).toContainEqual([2, 1]))
})
