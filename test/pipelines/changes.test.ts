import type { ServerResponse } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { outboundOptionsOf } from '../../src/delivery/pipelines/destinations/outbound-options.ts'
import { publishPending } from '../../src/delivery/pipelines/publishing/runner.ts'
import {
  claimDestination,
  listFreeDestinations,
  listHeldDestinations,
  releaseDestinations,
} from '../../src/delivery/pipelines/publishing/store-holding.ts'
import { atEnd } from '../support/at-end.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { faults, openReceiver, type Receiver } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
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
async function loadRunner({ team_id }: Tenant) {
  const { app } = w
  const holder = newUuid()
  const hold = async () => {
    for (const free of await listFreeDestinations(app.db, 100)) await claimDestination(app.db, free, holder, 60)
  }
  await hold()
  const row = (await listHeldDestinations(app.db, holder)).find((row) => row.team_id === team_id)
  if (!row) throw new Error('This process does not hold the pipeline.')
  const runner = { revision: row.revision, position: row.after_no, isOver: false }
  const context = { app, holder, outbound: outboundOptionsOf(app.config), recordMetrics: () => {}, signal: new AbortController().signal }
  return { hold, publish: () => publishPending(context, runner, row), letGo: () => releaseDestinations(app.db, team_id, holder) }
}

test('publishes an event to the new topic even when the process has not loaded the change', async () => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('before') })
  const staleRunner = await loadRunner(tenant)
  await pipeline.put({ cloud_pubsub: to('after') })
  const ids = await emitEvents(w.app, tenant, ['a', 'b'])
  await staleRunner.publish()
  await staleRunner.letGo()
  const publisher = w.startPublishing()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
  expect(receivedIds('after')).toEqual(ids)
  await publisher.stop()
})

test('publishes an event of a newly selected type even when the process has not loaded the change', async () => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('types'), event_type_prefixes: ['labtest.'] })
  const staleRunner = await loadRunner(tenant)
  await pipeline.put({ event_type_prefixes: [] })
  const ids = await emitEvents(w.app, tenant, ['a', 'b'])
  await staleRunner.publish()
  await staleRunner.letGo()
  const publisher = w.startPublishing()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, delivered: 2 }))
  expect(receivedIds('types')).toEqual(ids)
  await publisher.stop()
})

/** Deletes and recreates a pipeline while the same process still publishes its events. */
async function recreate(before: string, after: string, settle: (respond: ReturnType<typeof withhold>) => void) {
  const tenant = await w.tenant()
  const ids = await emitEvents(w.app, tenant, ['a', 'b'])
  const deleted = await aPipeline(tenant, { cloud_pubsub: to(before), push_historical_data: true })
  const respond = withhold(before)
  const staleRunner = await loadRunner(tenant)
  const publishing = staleRunner.publish()
  await waitFor(() => expect(receivedIds(before)).toHaveLength(2))
  await deleted.remove()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to(after), push_historical_data: true })
  await staleRunner.hold()
  settle(respond)
  await publishing
  return { ids, pipeline, staleRunner }
}

test('does not count events published for a deleted pipeline toward its replacement', async () => {
  const { ids, pipeline, staleRunner } = await recreate('deleted', 'replacement', (respond) => respond())
  expect(await pipeline.state()).toMatchObject({ lag: 2, delivered: 0 })
  await staleRunner.letGo()
  const publisher = w.startPublishing()
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
  expect(receivedIds('replacement')).toEqual(ids)
  await publisher.stop()
})

test('does not record a failure of a deleted pipeline on its replacement', async () => {
  const { pipeline } = await recreate('failing', 'sound', (respond) => respond(faults.status(403)))
  expect(await pipeline.state()).toMatchObject({ lag: 2, failures: 0, last_error: null, next_try_at: null })
})

test('finishes only the event in progress when a destination is paused and sends the rest after it resumes', async () => {
  const [tenant, other] = [await w.tenant(), await w.tenant()]
  const elsewhere = await aPipeline(other, { cloud_pubsub: to('elsewhere') })
  await elsewhere.pause()
  await emitEvents(w.app, other, ['a'])
  const publisher = w.startPublishing()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('slow') })
  const respond = withhold('slow')
  const ids = await emitEvents(w.app, tenant, ['a', 'a', 'a'])
  await waitFor(() => expect(receivedIds('slow')).toHaveLength(1))
  await pipeline.pause()
  // Once the other event arrives, the publisher has loaded the paused state too. From then on it waits five seconds for the confirmation.
  await elsewhere.enable('cloud_pubsub')
  await waitFor(() => expect(receivedIds('elsewhere')).toHaveLength(1))
  respond()
  await waitFor(async () => expect((await pipeline.state()).delivered).toBeGreaterThan(0))
  expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 2 })
  expect(receivedIds('slow')).toEqual(ids.slice(0, 1))
  await pipeline.enable('cloud_pubsub')
  await waitFor(() => expect(receivedIds('slow')).toEqual(ids))
  await publisher.stop()
})

test('publishes to a new topic although the previous one never responds', async () => {
  const tenant = await w.tenant()
  const publisher = w.startPublishing()
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
  const publisher = w.startPublishing()
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
