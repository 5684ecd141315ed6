import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startWorker } from '../../src/delivery/webhooks/sending/worker.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import type { Sender } from '../../src/platform/outbound/send.ts'
import { atEnd } from '../support/at-end.ts'
import { aWebhook, countPending, ok, outcome, type ReceivedMessage, toReceivedMessage } from '../support/lanes.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { aSample, push } from '../support/wearables.ts'
import { replica, type Tenant } from '../support/world.ts'

const w = await replica()

type Send = (message: ReceivedMessage) => Outcome | Promise<Outcome>

/**
 * Starts a worker in the process that receives the pushes. It has connections of its own, which a test can close. Messages to
 * webhooks of other tests succeed.
 */
async function startOwnWorker(path: string, send: Send, sendsOwnOnly = false) {
  const { db, close } = openDatabase(w.url, 5, pino({ level: 'silent' }))
  const post: Sender['post'] = async (message) => {
    const received = toReceivedMessage(message)
    return received.path === path ? send(received) : ok
  }
  const worker = await startWorker({ ...w.app, db }, { send: post, onError: () => {}, sendsOwnOnly })
  let closing: Promise<void> | undefined
  const kill = () => {
    closing ??= close()
    return closing
  }
  atEnd(kill)
  atEnd(() => worker.stop())
  return { ...worker, kill }
}

const minute = (n: number) => `2026-03-01T00:${String(n).padStart(2, '0')}:00Z`
const pushMinute = ({ api }: Tenant, user_id: string, n: number) => push(api, user_id, 'heartrate', [aSample(minute(n), 60 + n)])
const ofHeartRate = ({ key }: ReceivedMessage) => key.endsWith(' heartrate')
const allDone = (id: string) => eventually(async () => (await countPending(w.url, [id])) === 0)

async function aConnectedUser(tenant: Tenant) {
  const user_id = await aUser(tenant.api)
  await pushMinute(tenant, user_id, 0)
  return user_id
}

test('sends pushes of one user in order and those of others meanwhile', async () => {
  const tenant = await w.tenant()
  const users = await Promise.all(Array.from({ length: 4 }, () => aConnectedUser(tenant)))
  const { id } = await aWebhook(tenant, '/order')
  const received: ReceivedMessage[] = []
  const worker = await startOwnWorker('/order', async (message) => {
    await new Promise((done) => setImmediate(done))
    received.push(message)
    return ok
  })
  await Promise.all(users.flatMap((user) => Array.from({ length: 10 }, (_, n) => pushMinute(tenant, user, n + 1))))
  await eventually(() => received.length === 40)
  await allDone(id)
  for (const [, messages] of Map.groupBy(received, ({ key }) => key))
    expect(messages.map(({ n }) => n)).toEqual(Array.from({ length: 10 }, (_, n) => n + 1))
  await worker.stop()
})

test('records the attempt and frees the lane, so that the next push is sent too', async () => {
  const tenant = await w.tenant()
  const user = await aConnectedUser(tenant)
  const { id } = await aWebhook(tenant, '/settled')
  const received: ReceivedMessage[] = []
  const worker = await startOwnWorker('/settled', (message) => {
    received.push(message)
    return ok
  })
  for (const n of [1, 2, 3]) {
    await pushMinute(tenant, user, n)
    await allDone(id)
  }
  expect(received.map(({ n }) => n)).toEqual([1, 2, 3])
  const attempts = await query<{ n: number; outcome: string }>(
    w.url,
    'select n::int, outcome from attempts where webhook_id = $1 order by n',
    [id],
  )
  expect(attempts).toEqual([1, 2, 3].map((n) => ({ n, outcome: 'delivered' })))
  await worker.stop()
})

test('a message does not overtake one that failed', async () => {
  const tenant = await w.tenant()
  const user = await aConnectedUser(tenant)
  const { id } = await aWebhook(tenant, '/failed')
  const received: ReceivedMessage[] = []
  const worker = await startOwnWorker('/failed', (message) => {
    received.push(message)
    return outcome(500)
  })
  await pushMinute(tenant, user, 1)
  await eventually(async () => (await query(w.url, 'select from attempts where webhook_id = $1', [id])).length === 1)
  await pushMinute(tenant, user, 2)
  expect(received.filter(ofHeartRate).map(({ n }) => n)).toEqual([1])
  expect(await countPending(w.url, [id])).toBe(2)
  await worker.stop()
})

test('leaves a disabled webhook alone', async () => {
  const tenant = await w.tenant()
  const user = await aConnectedUser(tenant)
  const { id } = await aWebhook(tenant, '/disabled')
  const params = { org_id: tenant.org_id, team_id: tenant.team_id, env: 'sandbox' as const, webhook_id: id }
  await tenant.admin.patchWebhook({ params, body: { disabled: true } })
  const received: ReceivedMessage[] = []
  const worker = await startOwnWorker('/disabled', (message) => {
    received.push(message)
    return ok
  })
  await pushMinute(tenant, user, 1)
  expect(await query(w.url, 'select worker from lanes where webhook_id = $1', [id])).toEqual([{ worker: null }])
  expect(received).toEqual([])
  await worker.stop()
})

test('another worker sends the message of a process that was killed after the commit', async () => {
  const tenant = await w.tenant()
  const user = await aConnectedUser(tenant)
  const { id } = await aWebhook(tenant, '/killed')
  const pending = Promise.withResolvers<Outcome>()
  const sentBy: string[] = []
  const killed = await startOwnWorker('/killed', () => {
    sentBy.push('killed')
    return pending.promise
  })
  await pushMinute(tenant, user, 1)
  await eventually(() => sentBy.length === 1)
  const successor = await startOwnWorker('/killed', () => {
    sentBy.push('successor')
    return ok
  })
  await killed.kill()
  await allDone(id)
  expect(sentBy).toEqual(['killed', 'successor'])
  await successor.stop()
  pending.resolve(outcome(null, 'aborted'))
})

test('a worker that sends only its own messages leaves the rest to others', async () => {
  const tenant = await w.tenant()
  const user = await aConnectedUser(tenant)
  const { id } = await aWebhook(tenant, '/own')
  await pushMinute(tenant, user, 1)
  const received: ReceivedMessage[] = []
  const worker = await startOwnWorker(
    '/own',
    (message) => {
      received.push(message)
      return ok
    },
    true,
  )
  const other = await aConnectedUser(tenant)
  await eventually(() => received.filter(ofHeartRate).length === 1)
  expect(received.filter(ofHeartRate).map(({ key }) => key)).toEqual([`data ${other} heartrate`])
  await worker.stop()
  expect(await query(w.url, 'select key from lanes where webhook_id = $1 and worker is not null', [id])).toEqual([])
})
