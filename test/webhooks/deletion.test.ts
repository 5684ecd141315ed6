import { expect, test } from 'vitest'
import { eraseNextTeam } from '../../src/operations/team-deletion/actions.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { ok, outcome } from '../support/delivery.ts'
import { localDelivery } from '../support/local-delivery.ts'
import { query, runUncommitted } from '../support/query.ts'
import { waitFor } from '../support/webhooks.ts'
import { errorOf, replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)

const keys = (count: number) => Array.from({ length: count }, (_, n) => `key ${n}`)

/** The tables with rows of a webhook. Its attempts stay until their retention ends. */
async function tablesOf(webhook_id: string) {
  const rows = await query<{ name: string }>(
    w.url,
    `select 'webhooks' as name from webhooks where id = $1
     union select 'webhook_cursors' from webhook_cursors where webhook_id = $1
     union select 'webhook_filters' from webhook_filters where webhook_id = $1
     union select 'parked' from parked where webhook_id = $1
     union select 'parked_messages' from parked_messages where webhook_id = $1
     union select 'webhook_jobs' from webhook_jobs where webhook_id = $1
     union select 'attempts' from attempts where webhook_id = $1
     order by name`,
    [webhook_id],
  )
  return rows.map(({ name }) => name)
}

test('deletes the cursor, parked messages, filters and jobs of a webhook at once, and leaves the log and other webhooks', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({}, () => outcome(400))
  const other = await team.webhook({ disabled: true })
  await team.emit('a', 'a', 'b')
  await waitFor(async () => expect(await webhook.parked()).toEqual(['a 1', 'a 2', 'b 3']))
  await webhook.patch({ disabled: true })
  await team.emit(...keys(100))
  await webhook.patch({ filter_types: ['message.*'] })
  await team.admin.replayWebhook({ params: webhook.params, body: { from: '2020-01-01T00:00:00Z' } })
  expect((await webhook.get()).waiting).toBe(103)
  expect(await tablesOf(webhook.id)).toEqual([
    ...['attempts', 'parked', 'parked_messages', 'webhook_cursors', 'webhook_filters', 'webhook_jobs', 'webhooks'],
  ])
  await team.admin.deleteWebhook({ params: webhook.params })
  expect(await tablesOf(webhook.id)).toEqual(['attempts'])
  const missing = { status: 404, detail: { error_type: 'WEBHOOK_NOT_FOUND' } }
  for (const call of [webhook.get, webhook.attempts, () => team.admin.deleteWebhook({ params: webhook.params })])
    expect(await errorOf(call())).toMatchObject(missing)
  expect((await team.admin.listWebhooks({ params: webhook.params })).data.map(({ id }) => id)).toEqual([other.id])
  expect((await other.get()).waiting).toBe(103)
  await other.patch({ disabled: false })
  await other.settled()
  expect(other.received).toHaveLength(103)
})

test('a request in flight when its webhook is deleted is the last one, and other webhooks go on', async () => {
  const team = await delivery.team()
  const response = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({}, () => response.promise)
  const other = await team.webhook()
  await team.emit('a', 'a', 'a')
  await webhook.has(1)
  await team.admin.deleteWebhook({ params: webhook.params })
  await team.isLogged(3)
  response.resolve(ok)
  await team.emit('a')
  await other.settled()
  await other.has(4)
  expect([webhook.numbers(), other.numbers()]).toEqual([[1], [1, 2, 3, 4]])
  expect(await tablesOf(webhook.id)).toEqual([])
})

test('an outcome that waits for the deletion of its webhook is dropped, and the others are recorded', async () => {
  const team = await delivery.team()
  const response = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({}, () => response.promise)
  const other = await team.webhook({}, () => response.promise)
  await team.emit('a')
  await Promise.all([webhook.has(1), other.has(1)])
  const commit = await runUncommitted(w.url, 'delete from webhooks where team_id = $1 and id = $2', [team.team_id, webhook.id])
  response.resolve(ok)
  await commit()
  await other.settled()
  expect((await other.attempts()).map(({ outcome }) => outcome)).toEqual(['delivered'])
  await team.emit('b')
  await other.has(2)
  expect(other.chain()).toEqual([
    [1, undefined],
    [2, 1],
  ])
})

test('records the attempts of other teams when a team is erased during delivery', async () => {
  const [erased, remaining] = [await delivery.team(), await delivery.team()]
  const response = Promise.withResolvers<Outcome>()
  const gone = await erased.webhook({}, () => response.promise)
  const kept = await remaining.webhook({}, () => response.promise)
  await erased.emit('a')
  await remaining.emit('a')
  await Promise.all([gone.has(1), kept.has(1)])
  await query(w.url, 'delete from teams where id = $1', [erased.team_id])
  response.resolve(ok)
  await kept.settled()
  expect(await kept.attempts()).toHaveLength(1)
  expect((await tablesOf(gone.id)).filter((name) => name !== 'attempts')).toEqual([])
})

test('resetting a sandbox drops what is held of its users', async () => {
  const team = await delivery.team()
  const response = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({ ordering: 'strict', filter_types: ['user.*', 'endpoint.*'] }, ({ n }) =>
    n === 1 ? response.promise : ok,
  )
  await team.emit('a')
  await webhook.has(1)
  await team.api.createUser({ body: { client_user_id: 'ward-7' } })
  await team.emit('b')
  await team.isLogged(3)
  await team.api.resetTeam({ body: { team_id: team.team_id } })
  await team.isLogged(3)
  response.resolve(ok)
  await webhook.settled()
  expect(webhook.numbers()).toEqual([1, 3])
})

test('the erasure of a team wakes the owner of its log', async () => {
  const { team_id } = await delivery.team()
  await query(w.url, "update teams set deleted_at = now(), erase_at = now() - interval '1 minute' where id = $1", [team_id])
  const woken: string[] = []
  expect(await eraseNextTeam({ ...w.app, wake: (type, id) => void woken.push(`${type} ${id}`) })).toBe(true)
  expect(woken).toContain(`team log ${team_id}`)
})

test('an event that commits after its team was erased leaves nothing behind', async () => {
  const team = await delivery.team()
  await query(w.url, 'delete from teams where id = $1', [team.team_id])
  await query(
    w.url,
    `insert into outbox (team_id, id, event_type, key, partial, sealed, created_at)
     values ($1, gen_random_uuid(), 'endpoint.disabled', 'a', false, '', now())`,
    [team.team_id],
  )
  await w.runJobs()
  expect(
    await query(w.url, 'select from outbox where team_id = $1 union all select from events where team_id = $1', [team.team_id]),
  ).toEqual([])
})
