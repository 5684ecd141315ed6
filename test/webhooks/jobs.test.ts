import { expect, test } from 'vitest'
import { recoverMessages } from '../../src/delivery/webhooks/repair/recover.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { DAY, HOUR, later, SECOND } from '../../src/platform/time.ts'
import { ok, outcome } from '../support/delivery.ts'
import { localDelivery } from '../support/local-delivery.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { waitFor } from '../support/webhooks.ts'
import { errorOf, replica } from '../support/world.ts'

const w = await replica()
const delivery = await localDelivery(w)

type Team = Awaited<ReturnType<typeof delivery.team>>
type Webhook = Awaited<ReturnType<Team['webhook']>>

const wrong = outcome(400)
const yesterday = () => later(w.app.wall(), -DAY)
const up = (to: number) => Array.from({ length: to }, (_, n) => n + 1)

/** The jobs of a webhook. */
const jobsOf = ({ admin, params }: Webhook) => ({
  replay: (body: Parameters<typeof admin.replayWebhook>[0]['body']) => admin.replayWebhook({ params, body }),
  recover: (body: Parameters<typeof admin.recoverWebhook>[0]['body']) => admin.recoverWebhook({ params, body }),
  job: (job_id: string) => admin.getWebhookJob({ params: { ...params, job_id } }),
  stop: (job_id: string) => admin.stopWebhookJob({ params: { ...params, job_id } }),
  jobs: async () => (await admin.listWebhookJobs({ params })).data,
  done: (job_id: string) =>
    waitFor(async () => {
      await recoverMessages(w.app)
      const job = await admin.getWebhookJob({ params: { ...params, job_id } })
      expect([job.state, job.total === null]).toEqual(['done', false])
      return job
    }),
})

test('replays a window of the event log to a newer webhook, in log order and without a previous message', async () => {
  const team = await delivery.team()
  await team.emit('a', 'a', 'b')
  await team.emitOther('a')
  await team.emit('a')
  const webhook = await team.webhook()
  const { replay, done } = jobsOf(webhook)
  const started = await replay({ from: yesterday(), event_types: ['endpoint.*'] })
  expect(started).toMatchObject({ kind: 'replay', state: 'running', total: null, done: 0, sent: 0, event_types: ['endpoint.*'] })
  expect(await done(started.id)).toMatchObject({ total: 4, done: 4, sent: 4 })
  expect(webhook.chain().toSorted(([a = 0], [b = 0]) => a - b)).toEqual([1, 2, 3, 5].map((n) => [n, undefined]))
  expect(webhook.received.filter(({ key }) => key === 'a').map(({ n }) => n)).toEqual([1, 2, 5])

  // The replay is no part of the chain of new messages.
  await team.emit('a')
  await webhook.has(5)
  expect(webhook.chain().at(-1)).toEqual([6, undefined])
})

test('a replay that ends before its events are counted has their number too', async () => {
  const team = await delivery.team()
  await team.emit('a', 'b')
  await team.emitOther('a')
  const webhook = await team.webhook()
  const { replay, job } = jobsOf(webhook)
  const { id } = await replay({ from: yesterday(), event_types: ['endpoint.*'] })
  const empty = await replay({ from: yesterday(), to: later(yesterday(), SECOND) })
  await waitFor(async () => {
    expect(await job(id)).toMatchObject({ state: 'done', total: 2, done: 2 })
    expect(await job(empty.id)).toMatchObject({ state: 'done', total: 0, done: 0 })
  })
})

test('replays only events inside the window that match the present filter, once the webhook is enabled', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({ filter_types: ['message.*'] })
  await team.emit('a')
  await team.emitOther('a')
  await webhook.settled()
  await webhook.patch({ filter_types: ['endpoint.*'], disabled: true })
  const { replay, job, done } = jobsOf(webhook)
  const now = w.app.wall()
  const inside = await replay({ from: yesterday(), to: later(now, SECOND) })
  const before = await replay({ from: '2020-01-01T00:00:00Z', to: yesterday() })
  await recoverMessages(w.app)
  expect((await job(inside.id)).state).toBe('running')
  await webhook.patch({ disabled: false })
  expect(await done(inside.id)).toMatchObject({ total: 1, done: 1, sent: 1 })
  expect(await done(before.id)).toMatchObject({ total: 0, done: 0, sent: 0 })
  expect(webhook.numbers()).toEqual([2, 1])
  expect(await errorOf(replay({ from: now, to: now }))).toMatchObject({ status: 422, detail: [{ loc: ['body', 'from'] }] })
})

test('a new message goes before replayed ones of its key', async () => {
  const team = await delivery.team()
  await team.emit(...Array(5).fill('a'))
  const response = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({}, ({ key }) => (key === 'a' ? response.promise : ok))
  const { replay, done } = jobsOf(webhook)
  const { id } = await replay({ from: yesterday() })
  await webhook.has(1)
  await team.emit('a', 'marker')
  await webhook.has(2)
  expect(webhook.chain()).toEqual([
    [1, undefined],
    [7, 6],
  ])
  response.resolve(ok)
  expect(await done(id)).toMatchObject({ done: 5, sent: 5 })
  expect(webhook.numbers()).toEqual([1, 7, 6, 2, 3, 4, 5])
})

test('another worker continues a replay, and stopping it is immediate', async () => {
  const team = await delivery.team()
  await team.emit(...Array(40).fill('a'))
  let next = Promise.withResolvers<Outcome>()
  const webhook = await team.webhook({}, ({ n }) => (n % 10 === 0 ? next.promise : ok))
  const { replay, job, stop, jobs } = jobsOf(webhook)
  const { id } = await replay({ from: yesterday() })
  await webhook.has(10)
  await waitFor(async () => expect(await job(id)).toMatchObject({ state: 'running', done: 9, sent: 9 }))
  // The request fails when its worker stops, and is repeated.
  next.resolve(outcome(null, 'aborted'))
  await delivery.stop()
  next = Promise.withResolvers<Outcome>()
  await delivery.start()
  await webhook.has(11)
  expect(webhook.numbers()).toEqual([...up(10), 10])

  expect(await stop(id)).toMatchObject({ state: 'stopped', done: 9 })
  await team.isLogged(40)
  next.resolve(ok)
  await team.emit('a')
  await webhook.settled()
  await waitFor(() => expect(webhook.numbers().at(-1)).toBe(41))
  expect(webhook.numbers()).toEqual([...up(10), 10, 41])
  expect(await stop(id)).toMatchObject({ state: 'stopped', done: 9 })

  const second = await replay({ from: yesterday() })
  expect((await jobs()).map((job) => job.id)).toEqual([second.id, id])
  await stop(second.id)
  expect(await errorOf(stop(newUuid()))).toMatchObject({ status: 404, detail: { error_type: 'WEBHOOK_JOB_NOT_FOUND' } })
})

test('a failed message of a replay is parked and counts as sent, and stopping the replay leaves it', async () => {
  const team = await delivery.team()
  await team.emit('a', 'a', 'b')
  const webhook = await team.webhook({}, ({ key }) => (key === 'a' ? wrong : ok))
  const { replay, done, stop } = jobsOf(webhook)
  const { id } = await replay({ from: yesterday() })
  expect(await done(id)).toMatchObject({ total: 3, done: 3, sent: 3 })
  expect(await webhook.parked()).toEqual(['a 1', 'a 2'])
  // A second replay parks nothing twice.
  const second = await replay({ from: yesterday() })
  expect(await done(second.id)).toMatchObject({ done: 3, sent: 3 })
  expect(await webhook.parked()).toEqual(['a 1', 'a 2'])
  await stop(id)
  webhook.respond(() => ok)
  team.pass(10 * SECOND)
  await webhook.settled()
  expect(webhook.received.filter(({ key }) => key === 'a').map(({ n, previous }) => [n, previous])).toEqual([
    [1, undefined],
    [1, undefined],
    [2, undefined],
  ])
})

test('a replay waits when half of the keys are parked that a webhook can have, and new messages do not', async () => {
  const team = await delivery.team()
  await team.emit(...up(1200).map((n) => `old ${n}`))
  await team.isLogged(1200)
  const webhook = await team.webhook({}, ({ key }) => (key === 'new' ? ok : wrong))
  const { replay, stop } = jobsOf(webhook)
  const { id } = await replay({ from: yesterday() })
  await waitFor(async () => expect((await webhook.parked()).length).toBeGreaterThan(500))
  await team.emit(...up(300).map((n) => `later ${n}`), 'new')
  await waitFor(async () => expect(await webhook.afterNo()).toBe(1501))
  expect(webhook.received.filter(({ key }) => key === 'new')).toHaveLength(1)
  await stop(id)
})

test('recovers each message that was exhausted since a given time, once', async () => {
  const team = await delivery.team()
  const webhook = await team.webhook({}, () => wrong)
  const start = yesterday()
  await team.emit('a', 'b')
  for (let n = 1; n <= 8; n++) {
    await waitFor(async () => expect((await webhook.attempts()).filter(({ attempt }) => attempt === n)).toHaveLength(2))
    if (n < 8) team.pass(12 * HOUR)
  }
  await webhook.settled()
  const exhausted = (await webhook.attempts({ outcome: 'exhausted' })).toSorted((a, b) => a.sequence - b.sequence)
  expect(exhausted.map(({ sequence }) => sequence)).toEqual([1, 2])
  expect([(await webhook.position(1))?.state, (await webhook.position(2))?.state]).toEqual(['exhausted', 'exhausted'])
  webhook.respond(() => ok)
  expect(await webhook.retry(exhausted[0]?.event_id as string)).toMatchObject({ action: 'resent', sequence: 1, behind: 0 })
  await webhook.has(17)
  await webhook.settled()

  const { recover, done } = jobsOf(webhook)
  const { id } = await recover({ since: start })
  expect(await done(id)).toMatchObject({ kind: 'recover', total: 2, done: 2, sent: 1 })
  await webhook.has(18)
  await webhook.settled()
  expect(webhook.chain().slice(16)).toEqual([
    [1, undefined],
    [2, undefined],
  ])
  expect(webhook.received[17]?.id).toBe(exhausted[1]?.event_id)
  expect((await webhook.position(2))?.state).toBe('delivered')
  const again = await recover({ since: start })
  const early = await recover({ since: '2020-01-01T00:00:00Z', until: start })
  expect(await done(again.id)).toMatchObject({ sent: 0 })
  expect(await done(early.id)).toMatchObject({ total: 0 })
})

/** Inserts exhausted attempts for logged events. */
const exhaust = ({ team_id, id }: Webhook, upto: number) =>
  query(
    w.url,
    `insert into attempts (team_id, id, at, webhook_id, event_id, event_at, no, event_type, key, attempt, outcome, ms)
     select team_id, gen_random_uuid(), $4, $2, id, logged_at, no, event_type, key, 8, 'exhausted', 1 from events
     where team_id = $1 and no <= $3`,
    [team_id, id, upto, later(w.app.wall(), -SECOND)],
  )

test('two processes never recover the same messages', async () => {
  const team = await delivery.team()
  const keys = up(450).map((n) => `key ${n}`)
  await team.emit(...keys)
  const webhook = await team.webhook()
  await team.isLogged(450)
  await exhaust(webhook, 450)
  const { recover, job } = jobsOf(webhook)
  const { id } = await recover({ since: yesterday() })
  const other = await replica()
  for (let round = 0; round < 50 && (await job(id)).state !== 'done'; round++)
    await Promise.all([w.app, other.app, w.app].map((app) => recoverMessages(app)))
  expect(await job(id)).toMatchObject({ state: 'done', total: 450, done: 450, sent: 450 })
  await webhook.settled()
  expect(webhook.numbers().toSorted((a, b) => a - b)).toEqual(up(450))
})

test('a recovery pauses while 5,000 messages are parked or the webhook is disabled', async () => {
  const team = await delivery.team()
  await team.emit(...up(250).map((n) => `key ${n}`))
  const webhook = await team.webhook({}, () => wrong)
  await team.isLogged(250)
  await exhaust(webhook, 250)
  await webhook.patch({ disabled: true })
  await query(
    w.url,
    `with key as (
       insert into parked (team_id, webhook_id, key, attempts, retry_at) values ($1, $2, 'full', 1, now() + interval '1 day') returning *
     )
     insert into parked_messages (team_id, webhook_id, key, no, logged_at)
     select team_id, webhook_id, key, 100000 + n, now() from key, generate_series(1, 4900) n`,
    [team.team_id, webhook.id],
  )
  const { recover, job } = jobsOf(webhook)
  const { id } = await recover({ since: yesterday() })
  while (await recoverMessages(w.app));
  expect(await job(id)).toMatchObject({ state: 'running', done: 0 })
  await webhook.patch({ disabled: false })
  while (await recoverMessages(w.app));
  expect(await job(id)).toMatchObject({ state: 'running', done: 200 })
  await query(w.url, "delete from parked where webhook_id = $1 and key = 'full'", [webhook.id])
  while (await recoverMessages(w.app));
  expect(await job(id)).toMatchObject({ state: 'done', done: 250, sent: 250 })
})

test('a replay pauses while more than 5,000 messages are parked', async () => {
  const team = await delivery.team()
  await team.emit(...Array(600).fill('full'))
  const webhook = await team.webhook()
  await team.isLogged(600)
  await query(
    w.url,
    `with key as (
       insert into parked (team_id, webhook_id, key, attempts, retry_at) values ($1, $2, 'full', 1, $3) returning *
     )
     insert into parked_messages (team_id, webhook_id, key, no, logged_at)
     select team_id, webhook_id, key, 100000 + n, now() from key, generate_series(1, 4900) n`,
    [team.team_id, webhook.id, later(w.app.wall(), DAY)],
  )
  const { replay, job, done } = jobsOf(webhook)
  const { id } = await replay({ from: '2020-01-01T00:00:00Z' })
  await waitFor(async () => expect((await job(id)).done).toBeGreaterThanOrEqual(100))
  // New messages go on meanwhile.
  await team.emit('b')
  await webhook.has(1)
  const paused = await job(id)
  expect([paused.state, paused.done < 600, webhook.numbers()]).toEqual(['running', true, [601]])
  await query(w.url, "delete from parked where webhook_id = $1 and key = 'full'", [webhook.id])
  await webhook.patch({ description: 'They are gone' })
  expect(await done(id)).toMatchObject({ done: 600, sent: 600 })
  await webhook.settled()
  expect(webhook.numbers().toSorted((a, b) => a - b)).toEqual([...up(600).slice(paused.done), 601])
})

test('fails a job that cannot be continued, and continues others', async () => {
  const team = await delivery.team()
  await team.emit('a')
  const [broken, healthy] = [await team.webhook(), await team.webhook()]
  await team.isLogged(1)
  for (const webhook of [broken, healthy]) await exhaust(webhook, 1)
  const failing = await jobsOf(broken).recover({ since: yesterday() })
  const working = await jobsOf(healthy).recover({ since: yesterday() })
  await query(w.url, 'delete from webhook_cursors where webhook_id = $1', [broken.id])
  for (let round = 0; round < 25; round++) await recoverMessages(w.app).catch(() => {})
  expect((await jobsOf(broken).job(failing.id)).state).toBe('failed')
  expect((await jobsOf(healthy).job(working.id)).state).toBe('done')
})
