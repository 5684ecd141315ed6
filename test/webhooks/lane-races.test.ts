import { expect, test } from 'vitest'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { endpointsOf, sealSecrets } from '../../src/delivery/webhooks/endpoints.ts'
import { freeDeadLanes } from '../../src/delivery/webhooks/sending/store-lanes.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { atEnd } from '../support/at-end.ts'
import { numberAllEvents } from '../support/events.ts'
import {
  aWebhook,
  countPending,
  emitTo,
  manualWorker,
  type Ordering,
  ok,
  type ReceivedMessage,
  toReceivedMessage,
} from '../support/lanes.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newUuid, newWebhookSecret } from '../support/seeded.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const { app, url } = w

/** Creates a team with one webhook, and records what its workers send. */
async function setUp(outcomeOf: (message: ReceivedMessage) => Outcome | Promise<Outcome> = () => ok, ordering: Ordering = 'per_key') {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/', { ordering })
  const { admin, org_id, team_id } = tenant
  const patch = (body: object) => admin.patchWebhook({ params: { org_id, team_id, env: 'sandbox', webhook_id: id }, body })
  const received: ReceivedMessage[] = []
  const receive = (message: ReceivedMessage) => {
    received.push(message)
    return outcomeOf(message)
  }
  const newWorker = async () => {
    const worker = await manualWorker(app, url, receive)
    atEnd(() => worker.end())
    return worker
  }
  return { id, team_id, received, newWorker, patch, emit: (...keys: string[]) => emitTo(app, tenant.team_id, keys) }
}

const numbers = (received: ReceivedMessage[]) => received.map(({ n }) => n)
const isHeld = async (id: string) => (await query(url, 'select from lanes where webhook_id = $1 and worker is not null', [id])).length > 0

test('keeps an unfinished lane claimed when its worker settles, so that no other worker claims it', async () => {
  const second = Promise.withResolvers<Outcome>()
  const { id, received, newWorker, emit } = await setUp(({ n }) => (n === 2 ? second.promise : ok))
  const [first, other] = [await newWorker(), await newWorker()]
  await emit('a', 'a', 'a')
  await first.claim([id])
  await eventually(() => received.length === 2)
  await first.settle()
  expect(await other.claim([id])).toBe(0)
  expect(await countPending(url, [id])).toBe(3)
  second.resolve(ok)
  await eventually(() => received.length === 3)
  await eventually(async () => {
    await first.settle()
    return !(await isHeld(id))
  })
  expect(numbers(received)).toEqual([1, 2, 3])
  expect(await countPending(url, [id])).toBe(0)
})

/** Emits an event in a transaction that stays open. Returns the function that commits it. */
async function emitUncommitted(team_id: string) {
  const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const committed = inTransaction(app, async (app) => {
    const data = { webhook_id: team_id, because: 'gone' }
    await emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key: 'a', data, at: app.wall() })
    written.resolve()
    await mayCommit.promise
  })
  await written.promise
  return async () => {
    mayCommit.resolve()
    await committed
  }
}

test('sends a message that commits while its lane is being settled', async () => {
  const { id, team_id, received, newWorker, emit } = await setUp()
  const worker = await newWorker()
  await emit('a')
  await worker.claimAndSend([id])
  const commit = await emitUncommitted(team_id)
  expect(await worker.settle()).toBe(1)
  await commit()
  expect(await worker.settle()).toBe(0)
  const [lane] = await query<{ due: boolean }>(
    url,
    'select run_at is not null and worker is null as due from lanes where webhook_id = $1',
    [id],
  )
  expect(lane).toEqual({ due: true })
  await worker.claimAndSend([id])
  await worker.settle()
  expect(numbers(received)).toEqual([1, 2])
})

test('releases a lane that was claimed without a pending message', async () => {
  const { id, received, newWorker, emit } = await setUp()
  const worker = await newWorker()
  await emit('a')
  await worker.claimAndSend([id])
  await worker.settle()
  await query(url, "update lanes set run_at = now() - interval '1 second' where webhook_id = $1", [id])
  expect(await worker.claimAndSend([id])).toBe(1)
  await worker.settle()
  const [lane] = await query(url, 'select run_at, worker, head, tail, attempts from lanes where webhook_id = $1', [id])
  expect(lane).toEqual({ run_at: null, worker: null, head: 1, tail: 1, attempts: 0 })
  expect(numbers(received)).toEqual([1])
})

test('settles every lane of a burst and sends each message once', async () => {
  const { id, received, emit } = await setUp()
  const worker = await w.startDelivery(async (message) => {
    received.push(toReceivedMessage(message))
    return ok
  })
  atEnd(() => worker.stop())
  for (const burst of [1, 65, 129, 63]) {
    const before = received.length
    await emit(...Array.from({ length: burst }, (_, i) => `${burst} ${i}`))
    await eventually(async () => (await countPending(url, [id])) === 0 && !(await isHeld(id)))
    expect(received.length - before).toBe(burst)
  }
  await worker.stop()
})

test('repeats at most one batch of each lane after its worker dies', async () => {
  const { id, received, newWorker, emit } = await setUp()
  const [dying, other] = [await newWorker(), await newWorker()]
  for (const key of ['a', 'b', 'c']) await emit(...Array.from({ length: 20 }, () => key))
  await dying.claimAndSend([id])
  const before = received.length
  await dying.crash()
  await freeDeadLanes(app.db, app.wall())
  while ((await countPending(url, [id])) > 0) {
    await other.claimAndSend([id])
    await other.settle()
  }
  const repeated = received.length - 60
  expect([before, repeated]).toEqual([3 * 8, 3 * 8])
  for (const key of ['a', 'b', 'c']) {
    const numbersOfKey = numbers(received.filter((message) => message.key === key))
    expect(numbersOfKey).toEqual([...count(8), ...count(20)])
  }
})

test('frees the lanes of a dead worker without waiting for a transaction that writes to one of them', async () => {
  const { id, team_id, newWorker, emit } = await setUp()
  const dying = await newWorker()
  await emit('a', 'b')
  await dying.claimAndSend([id])
  await dying.crash()
  const commit = await emitUncommitted(team_id)
  const heldKeys = async () =>
    (await query<{ key: string }>(url, 'select key from lanes where webhook_id = $1 and worker is not null', [id])).map(({ key }) => key)
  await freeDeadLanes(app.db, app.wall())
  expect(await heldKeys()).toEqual(['a'])
  await commit()
  await freeDeadLanes(app.db, app.wall())
  expect(await heldKeys()).toEqual([])
})

const count = (to: number) => Array.from({ length: to }, (_, i) => i + 1)

const keys = (count: number) => Array.from({ length: count }, (_, i) => `key-${i}`)

test('claims more lanes for a webhook at its limit as soon as some of its lanes are settled', async () => {
  const { id, received, newWorker, emit } = await setUp()
  const worker = await newWorker()
  await emit(...keys(70))
  expect(await worker.claimAndSend([id])).toBe(64)
  await worker.settle(10)
  expect(worker.unfinished()).toEqual([id])
  expect(await worker.claim([id])).toBe(6)
  await eventually(() => received.length === 70)
  await worker.settle()
  expect(worker.unfinished()).toEqual([])
})

test('leaves capacity for another webhook when many webhooks are slow', async () => {
  const { id, received, emit } = await setUp()
  const slow = await Promise.all(Array.from({ length: 6 }, () => setUp()))
  const never = new Promise<Outcome>(() => {})
  const worker = await manualWorker(app, url, (message) => {
    received.push(message)
    return message.path === '/slow' ? never : ok
  })
  atEnd(() => worker.end())
  for (const webhook of slow) await query(url, "update webhooks set url = 'http://127.0.0.1:9/slow' where id = $1", [webhook.id])
  for (const webhook of slow) await webhook.emit(...keys(70))
  const claimed: number[] = []
  for (const webhook of slow) claimed.push(await worker.claim([webhook.id]))
  expect(claimed).toEqual([64, 64, 64, 32, 16, 8])
  await emit('quick')
  expect(await worker.claim([id])).toBe(1)
  await eventually(() => received.some(({ key }) => key === 'quick'))
})

test.each([
  ['strict', 'per_key', ['*', 'a']],
  ['per_key', 'strict', ['a', '*']],
  ['strict', 'unordered', ['*', expect.any(String)]],
] as const)('delivers an event once when its webhook changes from %s to %s before the event is numbered', async (from, to, keys) => {
  const { id, received, newWorker, patch, emit } = await setUp(() => ok, from)
  const worker = await newWorker()
  await emit('a')
  await patch({ ordering: to })
  await numberAllEvents(app)
  await worker.claimAndSend([id])
  await worker.settle()
  await emit('a')
  await numberAllEvents(app)
  await worker.claimAndSend([id])
  await worker.settle()
  expect(received.map(({ key }) => key)).toEqual(keys)
  expect(await countPending(url, [id])).toBe(0)
})

test('numbers an event whose strict webhook was deleted', async () => {
  const { id, emit } = await setUp(() => ok, 'strict')
  await emit('a')
  await query(url, 'delete from webhooks where id = $1', [id])
  await numberAllEvents(app)
  expect(await query(url, 'select from events where no is null')).toEqual([])
})

test('loads more endpoints than the cache holds and omits an unknown webhook', async () => {
  const { team_id } = await w.tenant()
  const secrets = { keys: [{ key: newWebhookSecret(), until: null }], headers: {}, sensitive: [] }
  const at = app.wall()
  const rows = await Promise.all(
    Array.from({ length: 2001 }, async () => {
      const id = newUuid()
      const sealed = await sealSecrets(app, { id, team_id }, secrets)
      return {
        id,
        team_id,
        url: 'http://127.0.0.1:8099',
        description: '',
        ordering: 'per_key' as const,
        sealed,
        created_at: at,
        updated_at: at,
      }
    }),
  )
  for (const batch of [rows.slice(0, 1000), rows.slice(1000)]) await app.db.insertInto('webhooks').values(batch).execute()
  const lanes = await query<{ webhook_id: string; version: string }>(
    url,
    'select id as webhook_id, xmin::text as version from webhooks where team_id = $1',
    [team_id],
  )
  await endpointsOf(app, lanes.slice(1))
  const found = await endpointsOf(app, [...lanes, { webhook_id: newUuid(), version: '1' }])
  expect([...found.keys()].sort()).toEqual(lanes.map(({ webhook_id }) => webhook_id).sort())
})
