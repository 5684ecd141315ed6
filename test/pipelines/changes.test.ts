import type { ServerResponse } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { findEnd } from '../../src/delivery/events/store-log.ts'
import { outboundOptionsOf } from '../../src/delivery/pipelines/destinations/outbound-options.ts'
import { openDestinationRun } from '../../src/delivery/pipelines/publishing/destination-run.ts'
import { type DestinationState, takeDestinations } from '../../src/delivery/pipelines/publishing/store-publishing.ts'
import { openTeamLog } from '../../src/delivery/worker/team-log.ts'
import { atEnd } from '../support/at-end.ts'
import { aWebhook } from '../support/delivery.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { query } from '../support/query.ts'
import { faults, openReceiver, type Receiver } from '../support/receiver.ts'
import { waitFor } from '../support/webhooks.ts'
import { type Tenant, world } from '../support/world.ts'

const confirm = faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}')

/** Open responses of withheld topics; every other topic confirms at once. */
const withheld = new Map<string, ServerResponse[]>()
const topicOf = (path = '') => /\/topics\/(.*):publish$/.exec(path)?.[1] ?? ''

let w: Awaited<ReturnType<typeof world>>
let google: Receiver
beforeAll(async () => {
  google = await openReceiver((response) => {
    const responses = withheld.get(topicOf(response.req.url))
    if (responses) responses.push(response)
    else confirm(response)
  })
  atEnd(google.close)
  w = await world({ env: { PUBSUB_PROJECTS: '*', PUBSUB_ENDPOINT: `http://127.0.0.1:${google.port}` } })
})

const to = (topic: string) => ({ project: 'harbor-events', topic, message_ordering: true })
const receivedIds = (topic: string) =>
  google.received.filter(({ path }) => topicOf(path) === topic).map(({ body }) => JSON.parse(body).messages[0].attributes.event_id)

/** Makes a topic respond only when the returned function is called. */
function withhold(topic: string) {
  withheld.set(topic, [])
  return function respond(behavior = confirm) {
    const responses = withheld.get(topic) ?? []
    withheld.delete(topic)
    responses.forEach(behavior)
  }
}

/** Simulates a process that loaded the pipeline now and publishes with those settings. */
async function loadRun({ team_id }: Tenant) {
  const { app } = w
  const log = openTeamLog(app, team_id)
  const [row] = (await takeDestinations(app.db, team_id, ['cloud_pubsub'])) as [DestinationState]
  const onError = (error: unknown) => {
    throw error
  }
  const context = { app, outbound: outboundOptionsOf(app.config), recordPublished: () => {}, isHeld: () => true, onError }
  const run = openDestinationRun(context, log, row, [])
  const isDone = () => waitFor(() => expect(run.isBusy()).toBe(false))
  const start = async () => {
    log.append([], await findEnd(app.db, team_id))
    run.wake()
  }
  return {
    start,
    isDone,
    async publish() {
      await start()
      await isDone()
    },
  }
}

test('publishes an event to the new topic even when the process has not loaded the change', async () => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('before') })
  const stale = await loadRun(tenant)
  await pipeline.put({ cloud_pubsub: to('after') })
  const ids = await emitEvents(w.app, tenant, ['a', 'b'])
  await stale.publish()
  const publisher = await w.startDelivery()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, delivered: 2 }))
  expect(receivedIds('after')).toEqual(ids)
  await publisher.stop()
})

test('publishes an event of a newly selected type even when the process has not loaded the change', async () => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('types'), event_type_prefixes: ['labtest.'] })
  const stale = await loadRun(tenant)
  await pipeline.put({ event_type_prefixes: [] })
  const ids = await emitEvents(w.app, tenant, ['a', 'b'])
  await stale.publish()
  const publisher = await w.startDelivery()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, delivered: 2 }))
  expect(receivedIds('types')).toEqual(ids)
  await publisher.stop()
})

/** Deletes and recreates a pipeline while a process still publishes its events, and another takes over. */
async function recreate(before: string, after: string, settle: (respond: ReturnType<typeof withhold>) => void) {
  const tenant = await w.tenant()
  const ids = await emitEvents(w.app, tenant, ['a', 'b'])
  const deleted = await aPipeline(tenant, { cloud_pubsub: to(before), push_historical_data: true })
  const respond = withhold(before)
  const stale = await loadRun(tenant)
  await stale.start()
  await waitFor(() => expect(receivedIds(before)).toHaveLength(2))
  await deleted.remove()
  w.advanceTime(1)
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to(after), push_historical_data: true })
  await loadRun(tenant)
  settle(respond)
  await stale.isDone()
  return { ids, pipeline }
}

test('does not count events published for a deleted pipeline toward its replacement', async () => {
  const { ids, pipeline } = await recreate('deleted', 'replacement', (respond) => respond())
  expect(await pipeline.state()).toMatchObject({ lag: 2, delivered: 0 })
  const publisher = await w.startDelivery()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
  expect(receivedIds('replacement')).toEqual(ids)
  await publisher.stop()
})

test('does not record a failure of a deleted pipeline on its replacement', async () => {
  const { pipeline } = await recreate('failing', 'sound', (respond) => respond(faults.status(403)))
  expect(await pipeline.state()).toMatchObject({ lag: 2, failures: 0, last_error: null, next_try_at: null })
})

test('starts no event after a destination is paused, and sends the rest after it resumes', async () => {
  const tenant = await w.tenant()
  const publisher = await w.startDelivery()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('slow') })
  const respond = withhold('slow')
  const ids = await emitEvents(w.app, tenant, ['a', 'a', 'a'])
  await waitFor(() => expect(receivedIds('slow')).toHaveLength(1))
  await pipeline.pause()
  const isLoaded = 'select from event_logs where team_id = $1 and due_at is null'
  await waitFor(async () => expect(await query(w.url, isLoaded, [tenant.team_id])).toHaveLength(1))
  respond()
  expect(await pipeline.state()).toMatchObject({ delivered: 0, lag: 3 })
  expect(receivedIds('slow')).toEqual(ids.slice(0, 1))
  await pipeline.enable('cloud_pubsub')
  // The event in flight may have been confirmed unseen.
  await waitFor(() => expect(receivedIds('slow')).toEqual([ids[0], ...ids]))
  await publisher.stop()
})

test('changes of other settings repeat no event in flight', async () => {
  const tenant = await w.tenant()
  const publisher = await w.startDelivery()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('unrelated') })
  const respond = withhold('unrelated')
  const ids = await emitEvents(w.app, tenant, ['a', 'a'])
  await waitFor(() => expect(receivedIds('unrelated')).toHaveLength(1))
  await aWebhook(tenant, '/')
  const isLoaded = 'select from event_logs where team_id = $1 and due_at is null'
  await waitFor(async () => expect(await query(w.url, isLoaded, [tenant.team_id])).toHaveLength(1))
  respond()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, lag: 0 }))
  expect(receivedIds('unrelated')).toEqual(ids)
  await publisher.stop()
})

test('publishes to a new topic although the previous one never responds', async () => {
  const tenant = await w.tenant()
  const publisher = await w.startDelivery()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('silent') })
  withhold('silent')
  const ids = await emitEvents(w.app, tenant, ['a', 'a'])
  await waitFor(() => expect(receivedIds('silent')).toHaveLength(1))
  await pipeline.put({ cloud_pubsub: to('answers') })
  await waitFor(() => expect(receivedIds('answers')).toEqual(ids))
  await publisher.stop()
})

test('records confirmed events on stop and starts no new ones', async () => {
  const tenant = await w.tenant()
  const publisher = await w.startDelivery()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('stopped') })
  const respond = withhold('stopped')
  const ids = await emitEvents(w.app, tenant, ['a', 'a', 'a'])
  await waitFor(() => expect(receivedIds('stopped')).toHaveLength(1))
  const stopped = publisher.stop()
  respond()
  await stopped
  expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 2, last_error: null })
  expect(receivedIds('stopped')).toEqual(ids.slice(0, 1))
})

test('omits a deleted team from the lag metrics', async () => {
  const [kept, deletedTeam] = [await w.tenant(), await w.tenant()]
  for (const tenant of [kept, deletedTeam]) {
    const pipeline = await aPipeline(tenant, { cloud_pubsub: to('unread') })
    await pipeline.pause()
    await emitEvents(w.app, tenant, ['a'])
  }
  const teamsIn = async (series: string) =>
    (await (await fetch(`${w.base}/metrics`)).text())
      .split('\n')
      .flatMap((line) => (line.startsWith(`${series}{`) ? (/team_id="([^"]*)"/.exec(line)?.[1] ?? []) : []))
      .filter((team_id) => [kept.team_id, deletedTeam.team_id].includes(team_id))
  expect((await teamsIn('assay_pipeline_lag')).sort()).toEqual([kept.team_id, deletedTeam.team_id].sort())
  await deletedTeam.admin.deleteTeam({ params: deletedTeam })
  for (const series of ['assay_pipeline_lag', 'assay_pipeline_oldest_waiting_seconds'])
    expect(await teamsIn(series)).toEqual([kept.team_id])
})
