import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { numberEvents } from '../../src/delivery/events/log.ts'
import { repairWebhooks } from '../../src/delivery/webhooks/repair/repair.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { place } from '../support/orders.ts'
import { faults } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { aReceiver, aWebhook, soon } from '../support/webhooks.ts'
import { refusal, replica, type Tenant, world } from '../support/world.ts'

const DAY = 24 * 3600 * 1000
const one = await world()
const courier = await one.courier()

/** Events that nobody has to be made for. */
async function manyEvents({ team_id }: Tenant, count: number) {
  const at = one.app.now()
  for (let n = 0; n < count; n++) {
    const data = { webhook_id: newUuid(), because: 'gone' }
    await inTransaction(one.app, (app) => emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key: `webhook:${n % 7}`, data, at }))
  }
  // The job may be numbering at the same moment; then it is asked again.
  do await numberEvents(one.app)
  while (await unnumbered(team_id))
}

const unnumbered = (team_id: string) =>
  one.app.db.selectFrom('events').select('id').where('team_id', '=', team_id).where('no', 'is', null).limit(1).executeTakeFirst()

const since = () => new Date(Date.parse(one.app.wall()) - DAY).toISOString()

/** In line and on no lane any more: the events that a webhook was given, however often. */
async function given(webhook_id: string) {
  const { rows } = await sql<{ event_id: string }>`
    select d.event_id from deliveries d join lanes l on l.id = d.lane_id where l.webhook_id = ${webhook_id} order by d.lane_id, d.n`.execute(
    one.app.db,
  )
  return rows.map(({ event_id }) => event_id)
}

const repairs = (tenant: Tenant, webhook: Awaited<ReturnType<typeof aWebhook>>) => {
  const { params } = webhook
  return {
    replay: (body: Parameters<Tenant['admin']['replayWebhook']>[0]['body']) => tenant.admin.replayWebhook({ params, body }),
    recover: (body: Parameters<Tenant['admin']['recoverWebhook']>[0]['body']) => tenant.admin.recoverWebhook({ params, body }),
    job: (job_id: string) => tenant.admin.getWebhookJob({ params: { ...params, job_id } }),
    stop: (job_id: string) => tenant.admin.stopWebhookJob({ params: { ...params, job_id } }),
    jobs: async () => (await tenant.admin.listWebhookJobs({ params })).data,
  }
}

test('a window of the log is sent to a webhook that came later, in its order', async () => {
  const tenant = await one.tenant()
  const order = await place(tenant.api)
  await one.runJobs()
  await manyEvents(tenant, 3)
  const receiver = await aReceiver()
  const webhook = await aWebhook(tenant, { url: receiver.url })
  const { replay, job } = repairs(tenant, webhook)
  const begun = await replay({ from: since(), event_types: ['labtest.*'] })
  expect(begun).toMatchObject({ kind: 'replay', state: 'running', total: null, done: 0, sent: 0, event_types: ['labtest.*'] })
  await one.runJobs()
  expect(await job(begun.id)).toMatchObject({ state: 'done', total: 2, done: 2, sent: 2 })
  await receiver.has(2)
  expect(receiver.events().map(({ event_type, data }) => [event_type, data['id']])).toEqual([
    ['labtest.order.created', order.id],
    ['labtest.order.updated', order.id],
  ])
})

test('a webhook is replayed only what its filter takes and what lies in the window', async () => {
  const tenant = await one.tenant()
  await place(tenant.api)
  await one.runJobs()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook', filter_types: ['labtest.order.updated'], disabled: true })
  const { replay, job } = repairs(tenant, webhook)
  const now = one.app.wall()
  const inside = await replay({ from: since(), to: now })
  const before = await replay({ from: '2020-01-01T00:00:00Z', to: since() })
  await one.runJobs()
  expect((await job(inside.id)).state).toBe('running')
  await tenant.admin.patchWebhook({ params: webhook.params, body: { disabled: false, url: (await aReceiver()).url } })
  await one.runJobs()
  expect(await job(inside.id)).toMatchObject({ state: 'done', total: 1, sent: 1 })
  expect(await job(before.id)).toMatchObject({ state: 'done', total: 0, sent: 0 })
  expect(await refusal(replay({ from: now, to: now }))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'from'] }] })
})

test('a job goes on in another process, piece by piece, and can be stopped', async () => {
  const tenant = await one.tenant()
  await manyEvents(tenant, 450)
  await courier.stop()
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook' })
  const { replay, job, stop, jobs } = repairs(tenant, webhook)
  const first = await replay({ from: since() })
  await repairWebhooks(one.app)
  expect(await job(first.id)).toMatchObject({ state: 'running', total: 450, done: 200, sent: 200 })
  const other = await replica()
  await repairWebhooks(other.app)
  expect(await stop(first.id)).toMatchObject({ state: 'stopped', done: 400 })
  await one.runJobs()
  expect((await job(first.id)).done).toBe(400)
  expect(await stop(first.id)).toMatchObject({ state: 'stopped', done: 400 })
  expect(new Set(await given(webhook.id)).size).toBe(400)
  const second = await replay({ from: since() })
  expect((await jobs()).map(({ id }) => id)).toEqual([second.id, first.id])
  await stop(second.id)
  expect(await refusal(stop(newUuid()))).toMatchObject({ status: 404, detail: { error_type: 'WEBHOOK_JOB_NOT_FOUND' } })
})

test('two processes never do the same piece', async () => {
  const tenant = await one.tenant()
  await manyEvents(tenant, 1000)
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook' })
  const { replay, job } = repairs(tenant, webhook)
  const begun = await Promise.all([replay({ from: since() }), replay({ from: since() })])
  const other = await replica()
  const isDone = async () => (await Promise.all(begun.map(({ id }) => job(id)))).every(({ state }) => state === 'done')
  for (let turn = 0; turn < 50 && !(await isDone()); turn++)
    await Promise.all([one.app, other.app, one.app].map((app) => repairWebhooks(app)))
  expect(await Promise.all(begun.map(({ id }) => job(id)))).toEqual(
    begun.map(({ id }) => expect.objectContaining({ id, state: 'done', total: 1000, done: 1000, sent: 1000 })),
  )
  const sent = await given(webhook.id)
  expect([sent.length, new Set(sent).size]).toEqual([2000, 1000])
})

test('a job waits while much is in line, so that what happens now is not behind all of it', async () => {
  const tenant = await one.tenant()
  await manyEvents(tenant, 300)
  const webhook = await aWebhook(tenant, { url: 'https://example.com/hook' })
  await sql`insert into lanes (webhook_id, key, passing, tail, run_at) values (${webhook.id}, 'full', false, 4900, now() + interval '1 day')`.execute(
    one.app.db,
  )
  const { replay, job } = repairs(tenant, webhook)
  const { id } = await replay({ from: since() })
  await one.runJobs()
  expect(await job(id)).toMatchObject({ state: 'running', done: 200 })
  await sql`delete from lanes where webhook_id = ${webhook.id} and key = 'full'`.execute(one.app.db)
  await one.runJobs()
  expect(await job(id)).toMatchObject({ state: 'done', done: 300 })
})

test('a job of an event that nobody can put in line is given up, and others go on', async () => {
  const tenant = await one.tenant()
  await manyEvents(tenant, 1)
  const broken = await aWebhook(tenant, { url: 'https://example.com/hook' })
  const sound = await aWebhook(tenant, { url: 'https://example.com/hook' })
  await sql`insert into lanes (webhook_id, key, passing, tail, head, run_at) values (${broken.id}, 'webhook:0', false, 9223372036854775807, 9223372036854775807, null)`.execute(
    one.app.db,
  )
  const failing = await repairs(tenant, broken).replay({ from: since() })
  const working = await repairs(tenant, sound).replay({ from: since() })
  for (let turn = 0; turn < 25; turn++) await repairWebhooks(one.app).catch(() => {})
  expect((await repairs(tenant, broken).job(failing.id)).state).toBe('failed')
  expect((await repairs(tenant, sound).job(working.id)).state).toBe('done')
})

test('everything that was exhausted since a time is sent again, once', async () => {
  await one.courier()
  const tenant = await one.tenant()
  const receiver = await aReceiver(() => faults.status(400))
  const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: ['labtest.order.created'] })
  await place(tenant.api)
  await place(tenant.api)
  const began = since()
  for (let tries = 1; tries <= 8; tries++) {
    await soon(async () => expect((await webhook.attempts()).filter(({ attempt }) => attempt === tries)).toHaveLength(2))
    one.passes(12 * 3600 * 1000)
  }
  const exhausted = (await webhook.attempts({ outcome: 'exhausted' })).map(({ event_id }) => event_id).reverse()
  expect([exhausted.length, (await webhook.get()).waiting]).toEqual([2, 0])
  receiver.behave(() => faults.ok)
  await webhook.retry(exhausted[0] as string)
  await receiver.has(17)
  await soon(async () => expect((await webhook.get()).waiting).toBe(0))

  const { recover, job } = repairs(tenant, webhook)
  const { id } = await recover({ since: began })
  await one.runJobs()
  await receiver.has(18)
  expect(await job(id)).toMatchObject({ kind: 'recover', state: 'done', total: 2, done: 2, sent: 1 })
  expect(receiver.events()[17]?.event_id).toBe(exhausted[1])
  await soon(async () => expect((await webhook.get()).waiting).toBe(0))
  const again = await recover({ since: began })
  const early = await recover({ since: '2020-01-01T00:00:00Z', until: began })
  await one.runJobs()
  expect(await job(again.id)).toMatchObject({ state: 'done', sent: 0 })
  expect(await job(early.id)).toMatchObject({ state: 'done', total: 0 })
})
