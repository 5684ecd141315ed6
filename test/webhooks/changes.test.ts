import { expect, test } from 'vitest'
import { SECOND } from '../../src/platform/time.ts'
import { ok, outcome } from '../support/delivery.ts'
import { localDelivery } from '../support/local-delivery.ts'
import { query } from '../support/query.ts'
import { waitFor } from '../support/webhooks.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)

const wrong = outcome(400)
const down = outcome(503)

const up = (to: number) => Array.from({ length: to }, (_, n) => n + 1)

/** Everything that the database stores for a webhook, with the versions of the rows. */
const rowsOf = (webhook_id: string) =>
  query(
    w.url,
    `select 'webhook' as name, xmin::text, null as key from webhooks where id = $1
     union all select 'cursor', xmin::text, null from webhook_cursors where webhook_id = $1
     union all select 'parked', xmin::text, key from parked where webhook_id = $1
     union all select 'message', xmin::text, no::text from parked_messages where webhook_id = $1
     union all select 'attempt', xmin::text, id::text from attempts where webhook_id = $1
     order by 1, 3`,
    [webhook_id],
  )

test('a former filter is deleted after the cursor has passed the events that it holds for', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({ filter_types: ['endpoint.*'], disabled: true })
  const former = () => query(w.url, 'select from webhook_filters where webhook_id = $1', [webhook.id])
  await team.emit('a')
  await webhook.patch({ filter_types: ['message.*'] })
  await team.emitOther('b')
  expect(await former()).toHaveLength(1)
  await webhook.patch({ disabled: false })
  await waitFor(async () => expect(await webhook.afterNo()).toBe(2))
  await webhook.patch({ description: 'ward' })
  await waitFor(async () => expect(await former()).toEqual([]))
  expect(webhook.numbers()).toEqual([1, 2])
})

test('a new filter applies from its position on, and a backlog keeps the filter of its time', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({ filter_types: ['endpoint.*'], disabled: true })
  await team.emit('a')
  await team.emitOther('b')
  await webhook.patch({ filter_types: ['message.*'] })
  await team.emit('c')
  await team.emitOther('d')
  await webhook.patch({ filter_types: ['message.*', 'endpoint.*'] })
  await team.emit('e')
  await team.isLogged(5)
  expect((await webhook.pending()).map(({ sequence }) => sequence)).toEqual([1, 4, 5])
  expect(await webhook.get()).toMatchObject({ waiting: 3, waiting_at_least: false })
  expect((await Promise.all(up(5).map((no) => webhook.position(no)))).map((position) => position?.state)).toEqual([
    ...['pending', 'not_a_message', 'not_a_message', 'pending', 'pending'],
  ])
  await webhook.patch({ disabled: false })
  await webhook.settled()
  expect(webhook.chain().toSorted(([a = 0], [b = 0]) => a - b)).toEqual([
    [1, undefined],
    [4, 1],
    [5, 4],
  ])
})

test('a change of a webhook writes nothing for the others of its team', async () => {
  const team = await delivery.team()
  const [changed, other] = [await team.webhook(), await team.webhook()]
  await team.emit('a')
  await Promise.all([changed.settled(), other.settled()])
  const before = await rowsOf(other.id)
  for (const change of [{ disabled: true }, { disabled: false }, { filter_types: ['message.*'] }]) {
    await changed.patch(change)
    await team.isLogged(1)
  }
  expect(await rowsOf(other.id)).toEqual(before)
})

test('after a change from per_key to strict, parked messages keep their queue and new ones are sent at once, in order', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({}, ({ key }) => (key === 'a' ? wrong : ok))
  await team.emit('a', 'a', 'b')
  await waitFor(async () => expect(await webhook.parked()).toEqual(['a 1', 'a 2']))
  await webhook.patch({ ordering: 'strict' })
  await team.emit('a', 'b', 'a')
  await webhook.has(5)
  expect(webhook.received.slice(2).map(({ key, n }) => `${key} ${n}`)).toEqual(['* 4', '* 5', '* 6'])
  await waitFor(async () => expect(await webhook.afterNo()).toBe(6))
  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  expect(webhook.received.slice(5).map(({ key, n }) => `${key} ${n}`)).toEqual(['a 1', 'a 2'])
})

test.each(['per_key', 'unordered'] as const)('after a change from strict to %s, the strict backlog keeps its order', async (ordering) => {
  const team = await delivery.team()
  const webhook = await team.webhook({ ordering: 'strict', disabled: true }, ({ n }) => (n === 1 ? wrong : ok))
  await team.emit('a', 'b')
  await webhook.patch({ ordering })
  await team.emit('c')
  await webhook.patch({ disabled: false })
  await webhook.has(2)
  expect(webhook.numbers()).toEqual([1, 3])
  expect(webhook.received.map(({ key }) => key)).toEqual(['*', ordering === 'per_key' ? 'c' : webhook.received[1]?.id])
  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  expect(webhook.chain().slice(2)).toEqual([
    [1, undefined],
    [2, 1],
  ])
})

test('a webhook that is created later receives nothing from before, and its sequence continues with the log', async () => {
  const team = await delivery.team()
  await team.emit('a', 'a')
  const webhook = await team.webhook()
  await team.emit('a')
  await webhook.settled()
  await webhook.has(1)
  expect(webhook.chain()).toEqual([[3, undefined]])
  await team.admin.deleteWebhook({ params: webhook.params })
  const next = await team.webhook()
  await team.emit('a')
  await next.has(1)
  expect(next.chain()).toEqual([[4, undefined]])
  expect(webhook.numbers()).toEqual([3])
})

test('the owner of a team signs with a new secret and sends new headers', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook()
  await team.emit('a')
  await webhook.settled()
  await team.admin.putWebhookHeaders({ params: webhook.params, body: { headers: { 'X-New': 'yes' } } })
  await team.admin.rotateWebhookSecret({ params: webhook.params, body: {} })
  await team.isLogged(1)
  await team.emit('b')
  const [first, second] = await webhook.has(2)
  expect([first, second].map((message) => message?.headers['X-New'])).toEqual([undefined, 'yes'])
  expect([first, second].map((message) => message?.headers['webhook-signature']?.split(' ').length)).toEqual([1, 2])
})

test('while a webhook is disabled, events write nothing for it', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook()
  await team.emit('a')
  await webhook.settled()
  await webhook.patch({ disabled: true })
  const other = await team.webhook()
  await team.isLogged(1)
  const before = await rowsOf(webhook.id)
  await team.emit(...up(50).map((n) => `key ${n}`))
  await other.settled()
  await team.isLogged(51)
  expect(await rowsOf(webhook.id)).toEqual(before)
  expect((await webhook.get()).waiting).toBe(50)
  await webhook.patch({ disabled: false })
  await webhook.settled()
  expect(webhook.numbers().toSorted((a, b) => a - b)).toEqual(up(51))
})

test('while a failing webhook is paused, events write nothing for it', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({}, () => down)
  await team.emit(...up(10).map((n) => `key ${n}`))
  await waitFor(async () => expect(await webhook.attempts()).toHaveLength(10))
  const other = await team.webhook()
  await team.isLogged(10)
  const before = await rowsOf(webhook.id)
  expect(before.filter(({ name }) => name === 'parked')).toHaveLength(10)
  await team.emit(...up(50).map((n) => `later ${n}`))
  await other.settled()
  expect(await rowsOf(webhook.id)).toEqual(before)
  expect((await webhook.get()).waiting).toBe(60)
  expect(webhook.received).toHaveLength(10)

  // The probe is one message. After its success all others follow.
  webhook.respond(() => ok)
  team.pass(20 * SECOND)
  await webhook.settled()
  expect(new Set(webhook.numbers()).size).toBe(60)
  expect(webhook.received).toHaveLength(70)
})

test('counts at most 10,000 pending messages and examined events', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({ disabled: true })
  const narrow = await team.webhook({ disabled: true, filter_types: ['message.*'] })
  await team.emit('a')
  await team.emitOther('a')
  await team.isLogged(2)
  expect([await webhook.get(), await narrow.get()]).toMatchObject([
    { waiting: 2, waiting_at_least: false },
    { waiting: 1, waiting_at_least: false },
  ])
  await query(
    w.url,
    `insert into events (team_id, no, logged_at, id, event_type, key, deliverable, sealed, created_at)
     select team_id, 2 + n, logged_at, gen_random_uuid(), event_type, key, deliverable, sealed, created_at
     from events, generate_series(1, 9999) n where team_id = $1 and no = 1`,
    [team.team_id],
  )
  await query(w.url, 'update event_logs set last_no = 10001 where team_id = $1', [team.team_id])
  expect([await webhook.get(), await narrow.get()]).toMatchObject([
    { waiting: 10_000, waiting_at_least: true },
    { waiting: 1, waiting_at_least: true },
  ])
  expect((await webhook.position(10_001))?.state).toBe('pending')
})
