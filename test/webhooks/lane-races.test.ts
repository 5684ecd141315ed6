import { expect, test } from 'vitest'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { endpointsOf, sealSecrets } from '../../src/delivery/webhooks/endpoints.ts'
import { freeDeadLanes } from '../../src/delivery/webhooks/sending/dead-lanes.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { webhookRef } from '../../src/platform/webhook-ref.ts'
import { atEnd } from '../support/at-end.ts'
import { numberAllEvents } from '../support/events.ts'
import {
  aWebhook,
  countPending,
  emitTo,
  manualWorker,
  type Ordering,
  ok,
  outcome,
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
  return {
    id,
    tenant,
    ref: webhookRef(team_id, id),
    team_id,
    received,
    newWorker,
    patch,
    emit: (...keys: string[]) => emitTo(app, tenant.team_id, keys),
  }
}

const numbers = (received: ReceivedMessage[]) => received.map(({ n }) => n)
const isHeld = async (id: string) => (await query(url, 'select from lanes where webhook_id = $1 and worker is not null', [id])).length > 0

test('keeps an unfinished lane claimed when its worker settles, so that no other worker claims it', async () => {
  const second = Promise.withResolvers<Outcome>()
  const { id, ref, received, newWorker, emit } = await setUp(({ n }) => (n === 2 ? second.promise : ok))
  const [first, other] = [await newWorker(), await newWorker()]
  await emit('a', 'a', 'a')
  await first.claim([ref])
  await eventually(() => received.length === 2)
  await first.settle()
  expect(await other.claim([ref])).toBe(0)
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
  const { id, ref, team_id, received, newWorker, emit } = await setUp()
  const worker = await newWorker()
  await emit('a')
  await worker.claimAndSend([ref])
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
  await worker.claimAndSend([ref])
  await worker.settle()
  expect(numbers(received)).toEqual([1, 2])
})

test('releases a lane that was claimed without a pending message', async () => {
  const { id, ref, received, newWorker, emit } = await setUp()
  const worker = await newWorker()
  await emit('a')
  await worker.claimAndSend([ref])
  await worker.settle()
  await query(url, "update lanes set run_at = now() - interval '1 second' where webhook_id = $1", [id])
  expect(await worker.claimAndSend([ref])).toBe(1)
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

test('frees the lanes of a worker whose lease expired, and no lane of one that renews', async () => {
  const { id, ref, newWorker, emit } = await setUp()
  const [expired, renewing] = [await newWorker(), await newWorker()]
  await emit('a')
  await expired.claimAndSend([ref])
  await emit('b')
  await renewing.claimAndSend([ref])
  await query(url, 'update workers set leased_until = now() where id = $1', [expired.context.worker])
  await freeDeadLanes(app)
  const lanes = await query(url, 'select key, worker from lanes where webhook_id = $1 order by key', [id])
  expect(lanes).toEqual([
    { key: 'a', worker: null },
    { key: 'b', worker: renewing.context.worker },
  ])
})

test('keeps the lane of a slow receiver, however long its messages take', async () => {
  const first = Promise.withResolvers<Outcome>()
  const { id, ref, received, newWorker, emit } = await setUp(({ n }) => (n === 1 ? first.promise : ok))
  const [slow, other] = [await newWorker(), await newWorker()]
  await emit('a', 'a', 'a')
  await slow.claim([ref])
  await eventually(() => received.length === 1)
  w.advanceTime(10 * MINUTE)
  await freeDeadLanes(app)
  expect(await other.claim([ref])).toBe(0)
  first.resolve(ok)
  await eventually(() => slow.unsettled().length === 1)
  await slow.settle()
  expect(numbers(received)).toEqual([1, 2, 3])
  expect(await countPending(url, [id])).toBe(0)
})

test('a worker that lost its lease sends no more messages of a lane that another took over', async () => {
  const first = Promise.withResolvers<Outcome>()
  const { id, ref, received, newWorker, emit } = await setUp(() => (received.length === 1 ? first.promise : ok))
  const [losing, other] = [await newWorker(), await newWorker()]
  await emit('a', 'a', 'a')
  await losing.claim([ref])
  await eventually(() => received.length === 1)
  await losing.loseLease()
  await freeDeadLanes(app)
  await other.claimAndSend([ref])
  await other.settle()
  first.resolve(ok)
  await eventually(() => losing.unsettled().length === 1)
  await losing.settle()
  expect(numbers(received)).toEqual([1, 1, 2, 3])
  expect(await countPending(url, [id])).toBe(0)
})

test('repeats at most one batch of each lane after its worker dies', async () => {
  const { id, ref, received, newWorker, emit } = await setUp()
  const [dying, other] = [await newWorker(), await newWorker()]
  for (const key of ['a', 'b', 'c']) await emit(...Array.from({ length: 20 }, () => key))
  await dying.claimAndSend([ref])
  const before = received.length
  await dying.crash()
  await freeDeadLanes(app)
  while ((await countPending(url, [id])) > 0) {
    await other.claimAndSend([ref])
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
  const { id, ref, team_id, newWorker, emit } = await setUp()
  const dying = await newWorker()
  await emit('a', 'b')
  await dying.claimAndSend([ref])
  await dying.crash()
  const commit = await emitUncommitted(team_id)
  const heldKeys = async () =>
    (await query<{ key: string }>(url, 'select key from lanes where webhook_id = $1 and worker is not null', [id])).map(({ key }) => key)
  await freeDeadLanes(app)
  expect(await heldKeys()).toEqual(['a'])
  await commit()
  await freeDeadLanes(app)
  expect(await heldKeys()).toEqual([])
})

const count = (to: number) => Array.from({ length: to }, (_, i) => i + 1)

const keys = (count: number) => Array.from({ length: count }, (_, i) => `key-${i}`)

test('claims more lanes for a webhook at its limit as soon as some of its lanes are settled', async () => {
  const { ref, received, newWorker, emit } = await setUp()
  const worker = await newWorker()
  await emit(...keys(70))
  expect(await worker.claimAndSend([ref])).toBe(64)
  await worker.settle(10)
  expect(worker.unfinished()).toEqual([ref])
  expect(await worker.claim([ref])).toBe(6)
  await eventually(() => received.length === 70)
  await worker.settle()
  expect(worker.unfinished()).toEqual([])
})

test('repeating a settlement whose response was lost changes nothing', async () => {
  const { id, ref, team_id, newWorker, emit } = await setUp(({ key }) => (key === 'a' ? ok : outcome(400)))
  const worker = await newWorker()
  await emit('a', 'a', 'exhausted', 'retried')
  await query(url, "update lanes set attempts = 7 where webhook_id = $1 and key = 'exhausted'", [id])
  // An event about delivery would not be reported as exhausted.
  await query(url, "update events set event_type = 'labtest.order.created' where team_id = $1", [team_id])
  const state = async () => ({
    lanes: await query(url, 'select key, head, tail, attempts, run_at, worker from lanes where webhook_id = $1 order by key', [id]),
    attempts: await query<{ outcome: string }>(url, 'select id, outcome from attempts where webhook_id = $1 order by n, outcome', [id]),
    events: await query(url, "select id from events where team_id = $1 and event_type = 'message.attempt.exhausted'", [team_id]),
  })
  expect(await worker.claimAndSend([ref])).toBe(3)
  await worker.settle()
  const settled = await state()
  expect(settled.attempts.map(({ outcome }) => outcome)).toEqual(['delivered', 'exhausted', 'retried', 'delivered'])
  expect(settled.events).toHaveLength(1)
  await worker.repeatSettlement()
  expect(await state()).toEqual(settled)
})

test('leaves capacity for other teams when a team has many slow webhooks', async () => {
  const never = new Promise<Outcome>(() => {})
  const [busy, next, last] = [await setUp(), await setUp(), await setUp()]
  const others = await Promise.all(Array.from({ length: 4 }, () => aWebhook(busy.tenant, '/')))
  const refs = [busy.ref, ...others.map(({ id }) => webhookRef(busy.team_id, id))]
  const worker = await manualWorker(app, url, () => never)
  atEnd(() => worker.end())
  for (const { emit } of [busy, next, last]) await emit(...keys(70))
  expect([await worker.claim(refs), await worker.claim(refs)]).toEqual([192, 0])
  expect([await worker.claim([next.ref]), await worker.claim([last.ref])]).toEqual([32, 16])
})

test('leaves capacity for another webhook when many webhooks are slow', async () => {
  const { ref, received, emit } = await setUp()
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
  for (const webhook of slow) claimed.push(await worker.claim([webhook.ref]))
  expect(claimed).toEqual([64, 64, 64, 32, 16, 8])
  await emit('quick')
  expect(await worker.claim([ref])).toBe(1)
  await eventually(() => received.some(({ key }) => key === 'quick'))
})

test.each([
  ['strict', 'per_key', ['*', 'a']],
  ['per_key', 'strict', ['a', '*']],
  ['strict', 'unordered', ['*', expect.any(String)]],
] as const)('delivers an event once when its webhook changes from %s to %s before the event is numbered', async (from, to, keys) => {
  const { id, ref, received, newWorker, patch, emit } = await setUp(() => ok, from)
  const worker = await newWorker()
  await emit('a')
  await patch({ ordering: to })
  await numberAllEvents(app)
  await worker.claimAndSend([ref])
  await worker.settle()
  await emit('a')
  await numberAllEvents(app)
  await worker.claimAndSend([ref])
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
  const lanes = rows.map(({ id }) => ({ webhook_id: id, revision: 1 }))
  await endpointsOf(app, team_id, lanes.slice(1))
  const found = await endpointsOf(app, team_id, [...lanes, { webhook_id: newUuid(), revision: 1 }])
  expect([...found.keys()].sort()).toEqual(lanes.map(({ webhook_id }) => webhook_id).sort())
})
