import { expect, test } from 'vitest'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { numberEvents } from '../../src/delivery/events/log.ts'
import { endpointsOf, sealSecrets } from '../../src/delivery/webhooks/endpoints.ts'
import { freeDeadLanes } from '../../src/delivery/webhooks/sending/store-lanes.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { query } from '../support/cluster.ts'
import { aWebhook, drivenWorker, emitTo, type Got, gotOf, type Ordering, ok, waitingFor } from '../support/lanes.ts'
import { eventually } from '../support/process.ts'
import { newUuid, newWebhookSecret } from '../support/seeded.ts'
import { atEnd, replica } from '../support/world.ts'

const one = await replica()
const { app, url } = one

/** A webhook of a team of its own, a worker for it, and what was sent so far. */
async function begin(answer: (got: Got) => Outcome | Promise<Outcome> = () => ok, ordering: Ordering = 'per_key') {
  const tenant = await one.tenant()
  const { id } = await aWebhook(tenant, '/', { ordering })
  const { admin, org_id, team_id } = tenant
  const patch = (body: object) => admin.patchWebhook({ params: { org_id, team_id, env: 'sandbox', webhook_id: id }, body })
  const sent: Got[] = []
  const receive = (got: Got) => {
    sent.push(got)
    return answer(got)
  }
  const newWorker = async () => {
    const worker = await drivenWorker(app, url, receive)
    atEnd(() => worker.end())
    return worker
  }
  return { id, team_id, sent, newWorker, patch, emit: (...keys: string[]) => emitTo(app, tenant.team_id, keys) }
}

const numbers = (sent: Got[]) => sent.map(({ n }) => n)
const isHeld = async (id: string) => (await query(url, 'select from lanes where webhook_id = $1 and worker is not null', [id])).length > 0

test('a lane that is not finished is not settled: no other worker sends from its middle', async () => {
  const second = Promise.withResolvers<Outcome>()
  const { id, sent, newWorker, emit } = await begin(({ n }) => (n === 2 ? second.promise : ok))
  const [one, other] = [await newWorker(), await newWorker()]
  await emit('a', 'a', 'a')
  await one.claim([id])
  await eventually(() => sent.length === 2)
  await one.settle()
  expect(await other.claim([id])).toBe(0)
  expect(await waitingFor(url, [id])).toBe(3)
  second.resolve(ok)
  await eventually(() => sent.length === 3)
  await eventually(async () => {
    await one.settle()
    return !(await isHeld(id))
  })
  expect(numbers(sent)).toEqual([1, 2, 3])
  expect(await waitingFor(url, [id])).toBe(0)
})

test('a message that commits while its lane is settled is not forgotten', async () => {
  const { id, team_id, sent, newWorker, emit } = await begin()
  const worker = await newWorker()
  await emit('a')
  await worker.turn([id])
  const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const commit = inTransaction(app, async (app) => {
    const data = { webhook_id: team_id, because: 'gone' }
    await emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key: 'a', data, at: app.wall() })
    written.resolve()
    await mayCommit.promise
  })
  await written.promise
  expect(await worker.settle()).toBe(1)
  mayCommit.resolve()
  await commit
  expect(await worker.settle()).toBe(0)
  const [lane] = await query<{ due: boolean }>(
    url,
    'select run_at is not null and worker is null as due from lanes where webhook_id = $1',
    [id],
  )
  expect(lane).toEqual({ due: true })
  await worker.turn([id])
  await worker.settle()
  expect(numbers(sent)).toEqual([1, 2])
})

test('a lane that is claimed without a message is given back', async () => {
  const { id, sent, newWorker, emit } = await begin()
  const worker = await newWorker()
  await emit('a')
  await worker.turn([id])
  await worker.settle()
  await query(url, 'update lanes set run_at = now() where webhook_id = $1', [id])
  expect(await worker.turn([id])).toBe(1)
  await worker.settle()
  const [lane] = await query(url, 'select run_at, worker, head, tail, attempts from lanes where webhook_id = $1', [id])
  expect(lane).toEqual({ run_at: null, worker: null, head: 1, tail: 1, attempts: 0 })
  expect(numbers(sent)).toEqual([1])
})

test('the last of a burst is settled as soon as the first, and nothing is sent twice', async () => {
  const { id, sent, emit } = await begin()
  const worker = await one.courier(async (message) => {
    sent.push(gotOf(message))
    return ok
  })
  atEnd(() => worker.stop())
  for (const burst of [1, 65, 129, 63]) {
    const before = sent.length
    await emit(...Array.from({ length: burst }, (_, i) => `${burst} ${i}`))
    await eventually(async () => (await waitingFor(url, [id])) === 0 && !(await isHeld(id)))
    expect(sent.length - before).toBe(burst)
  }
  await worker.stop()
})

test('a worker that dies has sent at most one turn of each of its lanes, and only that comes again', async () => {
  const { id, sent, newWorker, emit } = await begin()
  const [dying, other] = [await newWorker(), await newWorker()]
  for (const key of ['a', 'b', 'c']) await emit(...Array.from({ length: 20 }, () => key))
  await dying.turn([id])
  const before = sent.length
  await dying.crash()
  await freeDeadLanes(app.db, app.wall())
  while ((await waitingFor(url, [id])) > 0) {
    await other.turn([id])
    await other.settle()
  }
  const again = sent.length - 60
  expect([before, again]).toEqual([3 * 8, 3 * 8])
  for (const key of ['a', 'b', 'c']) {
    const its = numbers(sent.filter((got) => got.key === key))
    expect(its).toEqual([...count(8), ...count(20)])
  }
})

test('what a dead worker held is freed without waiting for a transaction that writes to one of its lanes', async () => {
  const { id, team_id, newWorker, emit } = await begin()
  const dying = await newWorker()
  await emit('a', 'b')
  await dying.turn([id])
  await dying.crash()
  const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const commit = inTransaction(app, async (app) => {
    const data = { webhook_id: team_id, because: 'gone' }
    await emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key: 'a', data, at: app.wall() })
    written.resolve()
    await mayCommit.promise
  })
  await written.promise
  const held = async () =>
    (await query<{ key: string }>(url, 'select key from lanes where webhook_id = $1 and worker is not null', [id])).map(({ key }) => key)
  await freeDeadLanes(app.db, app.wall())
  expect(await held()).toEqual(['a'])
  mayCommit.resolve()
  await commit
  await freeDeadLanes(app.db, app.wall())
  expect(await held()).toEqual([])
})

const count = (to: number) => Array.from({ length: to }, (_, i) => i + 1)

const keys = (count: number) => Array.from({ length: count }, (_, i) => `key-${i}`)

test('a webhook that has its share in hand goes on as soon as some of it is settled, however short its lanes are', async () => {
  const { id, sent, newWorker, emit } = await begin()
  const worker = await newWorker()
  await emit(...keys(70))
  expect(await worker.turn([id])).toBe(64)
  await worker.settle(10)
  expect(worker.more()).toEqual([id])
  expect(await worker.claim([id])).toBe(6)
  await eventually(() => sent.length === 70)
  await worker.settle()
  expect(worker.more()).toEqual([])
})

test('however many webhooks are slow, there is room for one more', async () => {
  const { id, sent, emit } = await begin()
  const slow = await Promise.all(Array.from({ length: 6 }, () => begin()))
  const never = new Promise<Outcome>(() => {})
  const worker = await drivenWorker(app, url, (got) => {
    sent.push(got)
    return got.path === '/slow' ? never : ok
  })
  atEnd(() => worker.end())
  for (const one of slow) await query(url, "update webhooks set url = 'http://127.0.0.1:9/slow' where id = $1", [one.id])
  for (const one of slow) await one.emit(...keys(70))
  const taken: number[] = []
  for (const one of slow) taken.push(await worker.claim([one.id]))
  expect(taken).toEqual([64, 64, 64, 32, 16, 8])
  await emit('quick')
  expect(await worker.claim([id])).toBe(1)
  await eventually(() => sent.some(({ key }) => key === 'quick'))
})

test.each([
  ['strict', 'per_key', ['*', 'a']],
  ['per_key', 'strict', ['a', '*']],
  ['strict', 'unordered', ['*', expect.any(String)]],
] as const)('a webhook that changes from %s to %s before an event is numbered gets it once, as it was', async (from, to, keys) => {
  const { id, sent, newWorker, patch, emit } = await begin(() => ok, from)
  const worker = await newWorker()
  await emit('a')
  await patch({ ordering: to })
  await numberEvents(app)
  await worker.turn([id])
  await worker.settle()
  await emit('a')
  await numberEvents(app)
  await worker.turn([id])
  await worker.settle()
  expect(sent.map(({ key }) => key)).toEqual(keys)
  expect(await waitingFor(url, [id])).toBe(0)
})

test('a strict webhook that is deleted before an event is numbered holds nobody up', async () => {
  const { id, emit } = await begin(() => ok, 'strict')
  await emit('a')
  await query(url, 'delete from webhooks where id = $1', [id])
  await numberEvents(app)
  expect(await query(url, 'select from events where no is null')).toEqual([])
})

test('more webhooks than are kept in memory are all ready to be sent to, but for one that is gone', async () => {
  const { team_id } = await one.tenant()
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
  for (const some of [rows.slice(0, 1000), rows.slice(1000)]) await app.db.insertInto('webhooks').values(some).execute()
  const lanes = await query<{ webhook_id: string; version: string }>(
    url,
    'select id as webhook_id, xmin::text as version from webhooks where team_id = $1',
    [team_id],
  )
  await endpointsOf(app, lanes.slice(1))
  const found = await endpointsOf(app, [...lanes, { webhook_id: newUuid(), version: '1' }])
  expect([...found.keys()].sort()).toEqual(lanes.map(({ webhook_id }) => webhook_id).sort())
})
