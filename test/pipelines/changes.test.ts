import type { ServerResponse } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { outboundOptionsOf } from '../../src/delivery/pipelines/destinations/outbound-options.ts'
import { publishPending } from '../../src/delivery/pipelines/publishing/runner.ts'
import { claimFree, held, release } from '../../src/delivery/pipelines/publishing/store-holding.ts'
import { aPipeline, tell } from '../support/pipelines.ts'
import { faults, openReceiver, type Receiver } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { soon } from '../support/webhooks.ts'
import { atEnd, type Tenant, world } from '../support/world.ts'

const confirm = faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}')

/** Answers of topics that have not been given yet; of all others events are confirmed at once. */
const withheld = new Map<string, ServerResponse[]>()
const topicOf = (path = '') => /\/topics\/(.*):publish$/.exec(path)?.[1] ?? ''

let w: Awaited<ReturnType<typeof world>>
let google: Receiver
beforeAll(async () => {
  google = await openReceiver((response) => {
    const waiting = withheld.get(topicOf(response.req.url))
    if (waiting) waiting.push(response)
    else confirm(response)
  })
  atEnd(google.close)
  w = await world({ env: { PUBSUB_PROJECTS: '*', PUBSUB_ENDPOINT: `http://127.0.0.1:${google.port}` } })
})

const to = (topic: string) => ({ project: 'harbour-events', topic, message_ordering: true })
const came = (topic: string) =>
  google.received.filter(({ path }) => topicOf(path) === topic).map(({ body }) => JSON.parse(body).messages[0].attributes.event_id)

/** Has a topic answer only when it is told to. */
function withhold(topic: string) {
  withheld.set(topic, [])
  return function answer(behaviour = confirm) {
    const responses = withheld.get(topic) ?? []
    withheld.delete(topic)
    responses.forEach(behaviour)
  }
}

/** A process that looked at the pipeline now, and publishes by what it saw. */
async function aLook({ team_id }: Tenant) {
  const { app } = w
  const holder = newUuid()
  const hold = () => claimFree(app.db, holder, { seconds: 60, most: 100 })
  await hold()
  const row = (await held(app.db, holder)).find((row) => row.team_id === team_id)
  if (!row) throw new Error('nobody has it in hand')
  const runner = { revision: row.revision, place: row.after_no, isOver: false }
  const desk = { app, holder, reach: outboundOptionsOf(app.config), noted: () => {}, ends: new AbortController().signal }
  return { hold, publish: () => publishPending(desk, runner, row), letGo: () => release(app.db, holder) }
}

test('an event that happens after the topic was changed comes to the new one, also where that was not noticed yet', async () => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('before') })
  const look = await aLook(tenant)
  await pipeline.put({ cloud_pubsub: to('after') })
  const ids = await tell(w.app, tenant, ['a', 'b'])
  await look.publish()
  await look.letGo()
  const publisher = w.publisher()
  await soon(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
  expect(came('after')).toEqual(ids)
  await publisher.stop()
})

test('an event that happens after its type was asked for comes, also where that was not noticed yet', async () => {
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('types'), event_type_prefixes: ['labtest.'] })
  const look = await aLook(tenant)
  await pipeline.put({ event_type_prefixes: [] })
  const ids = await tell(w.app, tenant, ['a', 'b'])
  await look.publish()
  await look.letGo()
  const publisher = w.publisher()
  await soon(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, delivered: 2 }))
  expect(came('types')).toEqual(ids)
  await publisher.stop()
})

/** A pipeline whose events are on their way while it is deleted and made again by the same process. */
async function madeAgain(before: string, after: string, settle: (answers: ReturnType<typeof withhold>) => void) {
  const tenant = await w.tenant()
  const ids = await tell(w.app, tenant, ['a', 'b'])
  const deleted = await aPipeline(tenant, { cloud_pubsub: to(before), push_historical_data: true })
  const answers = withhold(before)
  const look = await aLook(tenant)
  const publishing = look.publish()
  await soon(() => expect(came(before)).toHaveLength(2))
  await deleted.remove()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to(after), push_historical_data: true })
  await look.hold()
  settle(answers)
  await publishing
  return { ids, pipeline, look }
}

test('what a deleted pipeline still publishes does not count for the one that was made instead', async () => {
  const { ids, pipeline, look } = await madeAgain('deleted', 'instead', (answer) => answer())
  expect(await pipeline.state()).toMatchObject({ lag: 2, delivered: 0 })
  await look.letGo()
  const publisher = w.publisher()
  await soon(async () => expect(await pipeline.state()).toMatchObject({ lag: 0 }))
  expect(came('instead')).toEqual(ids)
  await publisher.stop()
})

test('what fails for a deleted pipeline is not held against the one that was made instead', async () => {
  const { pipeline } = await madeAgain('failing', 'sound', (answer) => answer(faults.status(403)))
  expect(await pipeline.state()).toMatchObject({ lag: 2, failures: 0, last_error: null, next_try_at: null })
})

test('a destination that is paused gets no more than what is on its way, and the rest when it goes on', async () => {
  const [tenant, other] = [await w.tenant(), await w.tenant()]
  const publisher = w.publisher()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('slow') })
  const answer = withhold('slow')
  const ids = await tell(w.app, tenant, ['a', 'a', 'a'])
  await soon(() => expect(came('slow')).toHaveLength(1))
  await pipeline.pause()
  // Whoever got this looked at all pipelines since.
  await aPipeline(other, { cloud_pubsub: to('elsewhere') })
  await tell(w.app, other, ['a'])
  await soon(() => expect(came('elsewhere')).toHaveLength(1))
  answer()
  await soon(async () => expect((await pipeline.state()).delivered).toBeGreaterThan(0))
  expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 2 })
  expect(came('slow')).toEqual(ids.slice(0, 1))
  await pipeline.enable('cloud_pubsub')
  await soon(() => expect(came('slow')).toEqual(ids))
  await publisher.stop()
})

test('a topic that never answers holds up the one that was sent instead for a few seconds only', async () => {
  const tenant = await w.tenant()
  const publisher = w.publisher()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('silent') })
  withhold('silent')
  const ids = await tell(w.app, tenant, ['a', 'a'])
  await soon(() => expect(came('silent')).toHaveLength(1))
  await pipeline.put({ cloud_pubsub: to('answers') })
  await soon(() => expect(came('answers')).toEqual(ids))
  await publisher.stop()
})

test('whoever stops notes what was confirmed and begins no more', async () => {
  const tenant = await w.tenant()
  const publisher = w.publisher()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: to('stopped') })
  const answer = withhold('stopped')
  const ids = await tell(w.app, tenant, ['a', 'a', 'a'])
  await soon(() => expect(came('stopped')).toHaveLength(1))
  const stopped = publisher.stop()
  answer()
  await stopped
  expect(await pipeline.state()).toMatchObject({ delivered: 1, lag: 2, last_error: null })
  expect(came('stopped')).toEqual(ids.slice(0, 1))
})

test('nobody is told of what waits for a team that was deleted', async () => {
  const [stays, goes] = [await w.tenant(), await w.tenant()]
  for (const tenant of [stays, goes]) {
    const pipeline = await aPipeline(tenant, { cloud_pubsub: to('unread') })
    await pipeline.pause()
    await tell(w.app, tenant, ['a'])
  }
  const measured = async (series: string) =>
    (await (await fetch(`${w.base}/metrics`)).text())
      .split('\n')
      .flatMap((line) => (line.startsWith(`${series}{`) ? (/team_id="([^"]*)"/.exec(line)?.[1] ?? []) : []))
      .filter((team_id) => [stays.team_id, goes.team_id].includes(team_id))
  expect(await measured('assay_pipeline_lag')).toEqual([stays.team_id, goes.team_id])
  await goes.admin.deleteTeam({ params: goes })
  for (const series of ['assay_pipeline_lag', 'assay_pipeline_oldest_waiting_seconds'])
    expect(await measured(series)).toEqual([stays.team_id])
})
