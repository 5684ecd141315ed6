import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Position } from '../../src/contract/delivery/log-rows.ts'
import { readPage } from '../../src/delivery/events/read.ts'
import { applyRetention } from '../../src/delivery/webhooks/repair/retention.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { skipUnless } from '../db/support/embedded.ts'
import { aWebhook, emitTo, ok, type ReceivedMessage, toReceivedMessage } from '../support/delivery.ts'
import { moveAllEvents } from '../support/events.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { readMetrics } from '../support/metrics.ts'
import { aPipeline } from '../support/pipelines.ts'
import { eventually } from '../support/process.ts'
import { query, runUncommitted } from '../support/query.ts'
import { citusServers, newSandboxDatabase, replica, type Tenant } from '../support/world.ts'

/** Disabled webhooks whose team has two events of 100 days ago, and two of now. */
async function aLog(...webhooks: Parameters<typeof aWebhook>[2][]) {
  const one = await replica({ database: await newSandboxDatabase() })
  const tenant = await one.tenant()
  const { team_id } = tenant
  const ids: string[] = []
  for (const body of webhooks) ids.push((await aWebhook(tenant, `/${ids.length}`, body)).id)
  for (const id of ids) await setDisabled(tenant, id, true)
  await emitTo(one.app, team_id, ['a', 'b'])
  await moveAllEvents(one.app)
  const day = later(one.app.wall(), -100 * DAY)
  await query(one.url, "select make_partition('events', $1::date)", [day])
  await query(one.url, "update events set logged_at = logged_at - interval '100 days' where team_id = $1", [team_id])
  await query(one.url, "update webhook_cursors set after_at = after_at - interval '100 days' where team_id = $1", [team_id])
  await emitTo(one.app, team_id, ['a', 'b'])
  await moveAllEvents(one.app)
  const partition = `events_${day.slice(0, 10).replaceAll('-', '')}`
  const isKept = async () => (await query(one.url, 'select from pg_class where relname = $1', [partition])).length === 1
  const countExpired = async () => (await readMetrics(one.base))('assay_webhook_expired_total')
  return { ...one, tenant, team_id, ids, isKept, countExpired }
}

const setDisabled = ({ admin, org_id, team_id }: Tenant, webhook_id: string, disabled: boolean) =>
  admin.patchWebhook({ params: { org_id, team_id, env: 'sandbox', webhook_id }, body: { disabled } })

test('messages past retention expire, and the chain goes on after them', async () => {
  const { app, url, tenant, team_id, ids, isKept, countExpired, startDelivery } = await aLog({}, { ordering: 'strict' })
  await query(url, "update webhook_cursors set done = '{2,3}', attempts = 4, retry_at = now() where webhook_id = $1", [ids[1]])
  const before = await countExpired()
  await applyRetention(app)
  expect(await isKept()).toBe(false)
  expect((await countExpired()) - before).toBe(3)
  const columns = 'after_no::int, last_no::int, done, attempts, retry_at, term::int'
  const cursors = await query(url, `select ${columns} from webhook_cursors where team_id = $1 order by done`, [team_id])
  expect(cursors).toEqual([
    { after_no: 2, last_no: 2, done: [], attempts: 0, retry_at: null, term: 1 },
    { after_no: 2, last_no: 2, done: [3], attempts: 0, retry_at: null, term: 1 },
  ])
  await applyRetention(app)
  expect((await countExpired()) - before).toBe(3)

  const received: ReceivedMessage[] = []
  await startDelivery(async (message) => {
    received.push(toReceivedMessage(message))
    return ok
  })
  for (const id of ids) await setDisabled(tenant, id, false)
  await eventually(async () => received.length === 3)
  expect(received.map(({ path, n, previous }) => [path, n, previous]).sort()).toEqual([
    ['/0', 3, 2],
    ['/0', 4, 3],
    ['/1', 4, 3],
  ])
})

test('messages past retention expire under an owner, in replays, when parked, and for destinations of pipelines', async () => {
  const { app, url, tenant, team_id, ids, isKept, startDelivery } = await aLog({})
  const [webhook_id] = ids as [string]
  const pipeline = await aPipeline(tenant, {
    rabbitmq: { uri: 'amqps://courier:broker-password@broker.example.com:5671/labs', exchange: 'events' },
  })
  await pipeline.pause()
  await query(url, "update pipeline_destinations set after_no = 0, after_at = now() - interval '101 days' where team_id = $1", [team_id])
  const inAnHour = later(app.wall(), DAY)
  for (const key of ['a', 'b'])
    await query(url, 'insert into parked (team_id, webhook_id, key, attempts, retry_at) values ($1, $2, $3, 1, $4)', [
      ...[team_id, webhook_id, key, inAnHour],
    ])
  await query(
    url,
    `insert into parked_messages (team_id, webhook_id, key, no, logged_at)
     select team_id, $2, key, no, logged_at from events where team_id = $1 and no <= 3`,
    [team_id, webhook_id],
  )
  await query(
    url,
    `insert into webhook_jobs (team_id, id, webhook_id, kind, window_from, window_to, decided, created_at, updated_at)
     values ($1, gen_random_uuid(), $2, 'replay', now() - interval '101 days', now(), '{2,4}', now(), now())`,
    [team_id, webhook_id],
  )
  const worker = await startDelivery(async () => ok)
  worker.wake([team_id])
  await eventually(async () => (await query(url, 'select from event_logs where owner is not null and due_at is null')).length === 1)
  await applyRetention(app)
  expect(await isKept()).toBe(false)
  expect(await query(url, 'select key, no::int from parked_messages')).toEqual([{ key: 'a', no: 3 }])
  expect(await query(url, 'select key from parked')).toEqual([{ key: 'a' }])
  expect(await query(url, 'select after_no::int, decided from webhook_jobs')).toEqual([{ after_no: 2, decided: [4] }])
  expect(await query(url, 'select after_no::int from pipeline_destinations')).toEqual([{ after_no: 2 }])
  await setDisabled(tenant, webhook_id, false)
  await eventually(async () => (await query(url, 'select from webhook_cursors where after_no = 4')).length === 1)
})

test('a partition is kept until everything has moved past it', async () => {
  const { app, url, team_id, isKept } = await aLog({})
  const commit = await runUncommitted(url, 'select from event_logs where team_id = $1 for update', [team_id])
  const applied = applyRetention(app)
  await eventually(async () => (await lockWaits(url)).length > 0)
  expect(await isKept()).toBe(true)
  await commit()
  await applied
  expect(await isKept()).toBe(false)
})

test('a cursor at the end of a log that was idle for longer than the retention stays', async () => {
  const { app, url, team_id, isKept, countExpired } = await aLog({})
  await query(url, 'update webhook_cursors set after_no = 4, last_no = 4')
  const before = await countExpired()
  await applyRetention(app)
  expect([await isKept(), (await countExpired()) - before]).toEqual([false, 0])
  expect(await query(url, 'select after_no::int, term::int from webhook_cursors where team_id = $1', [team_id])).toEqual([
    { after_no: 4, term: 0 },
  ])
})

test('a page of the log opens only the partitions that it reads', async (context) => {
  skipUnless(context, !citusServers().length, 'the database of this run is distributed')
  const { app, url, team_id } = await aLog()
  const [, before, , end] = await query<Position & { partition: string }>(
    url,
    'select no::int, logged_at as at, tableoid::regclass::text as partition from events where team_id = $1 order by no',
    [team_id],
  )
  if (!before || !end) throw new Error('the log has no such events')
  const openedBy = (after: Position, limit: number) =>
    inTransaction(app, async ({ db }) => {
      const { events } = await readPage(db, team_id, { after, end, limit, bytes: 10_000 })
      const { rows } = await sql<{ partition: string }>`
        select distinct l.relation::regclass::text as partition from pg_locks l
        join pg_inherits p on p.inhrelid = l.relation and p.inhparent = 'events'::regclass where l.pid = pg_backend_pid()`.execute(db)
      return [events.map(({ no }) => no), rows.map(({ partition }) => partition)]
    })
  const day = ({ at }: Position) => `${at.slice(0, 10)}T00:00:00.000Z`
  expect(await openedBy({ no: 0, at: day(before) }, 2)).toEqual([[1, 2], [before.partition]])
  expect(await openedBy({ no: 2, at: day(end) }, 2)).toEqual([[3, 4], [end.partition]])
})
