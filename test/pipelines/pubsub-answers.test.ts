import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { OutboundOptions } from '../../src/delivery/pipelines/destinations/destination.ts'
import { openPubSub } from '../../src/delivery/pipelines/destinations/destination-pubsub.ts'
import { googleTokens } from '../../src/delivery/pipelines/destinations/google-tokens.ts'
import { outboundOptionsOf } from '../../src/delivery/pipelines/destinations/outbound-options.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { newCertificate } from '../support/certificate.ts'
import { aPipeline, tell } from '../support/pipelines.ts'
import { type Behaviour, faults, openReceiver, type Receiver } from '../support/receiver.ts'
import { soon } from '../support/webhooks.ts'
import { temporaryFolder, world } from '../support/world.ts'

const certificate = newCertificate(['127.0.0.1'])
const project = 'harbour-events'
const confirm: Behaviour = faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}')

/** What stands in for Pub/Sub does with each topic; where it is silent, it takes everything. */
const behaviours = new Map<string, Behaviour>()
const behave: Behaviour = (response) => (behaviours.get(topicOf(response.req.url)) ?? confirm)(response)
const topicOf = (path = '') => /\/topics\/(.*):publish$/.exec(path)?.[1] ?? ''

let w: Awaited<ReturnType<typeof world>>
let google: Receiver
let tokenServer: Receiver
let given = 0

const token: Behaviour = (response) => {
  const answer = {
    access_token: `secret-token-${++given}`,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: 3600,
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

/** A workload identity whose tokens are handed out on this machine. */
function aKeyFile() {
  const folder = temporaryFolder()
  const subject = join(folder, 'subject')
  writeFileSync(subject, 'a-subject-token')
  const file = join(folder, 'identity.json')
  const identity = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/tests/providers/tests',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `http://127.0.0.1:${tokenServer.port}/token`,
    credential_source: { file: subject },
  }
  writeFileSync(file, JSON.stringify(identity))
  return file
}

beforeAll(async () => {
  ;[google, tokenServer] = await Promise.all([openReceiver(behave, certificate), openReceiver(token)])
  const PUBSUB_ENDPOINT = `https://127.0.0.1:${google.port}`
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', aKeyFile())
  w = await world({ env: { PUBSUB_PROJECTS: project, PUBSUB_ENDPOINT } })
  w.publisher({ ca: certificate.cert })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await google?.close()
  await tokenServer?.close()
})

/** A team with a pipeline into a topic, and events that wait. */
async function story(topic: string, behaviour: Behaviour = confirm, keys = ['a', 'a']) {
  behaviours.set(topic, behaviour)
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: { project, topic, message_ordering: true } })
  const ids = await tell(w.app, tenant, keys)
  const came = () => google.received.filter(({ path }) => topicOf(path) === topic)
  return { tenant, pipeline, ids, came }
}

test('a topic is published to by its REST path, with the token of the deployment', async () => {
  const { ids, came, pipeline } = await story('plain')
  await soon(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, lag: 0 }))
  expect(came().map(({ path }) => path)).toEqual(Array(2).fill('/v1/projects/harbour-events/topics/plain:publish'))
  const messages = came().map(({ body }) => JSON.parse(body).messages)
  expect(messages).toMatchObject(ids.map((event_id) => [{ attributes: { event_id }, orderingKey: 'a', data: expect.any(String) }]))
  for (const { headers } of came())
    expect(headers).toMatchObject({ authorization: 'Bearer secret-token-1', 'content-type': 'application/json' })
  expect(given).toBe(1)
})

test('a per cent sign in the name of a topic is one', async () => {
  const { came, pipeline } = await story('half%25off')
  await soon(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2 }))
  expect(came()).toEqual([])
  expect(google.received.at(-1)?.path).toBe('/v1/projects/harbour-events/topics/half%2525off:publish')
})

test('a token that is refused is fetched anew, once for all that were refused with it', async () => {
  const before = given
  const refused = `Bearer secret-token-${before}`
  const stale: Behaviour = (response) => (response.req.headers.authorization === refused ? faults.status(401)(response) : confirm(response))
  const { pipeline, came } = await story('stale', stale, ['a', 'b', 'c', 'd', 'e', 'f'])
  await soon(async () => expect(await pipeline.state()).toMatchObject({ delivered: 6, lag: 0, last_error: null }))
  expect(given).toBe(before + 1)
  const tokens = came().map(({ headers }) => headers['authorization'])
  expect(tokens.filter((token) => token === `Bearer secret-token-${given}`)).toHaveLength(6)
  expect(tokens).toContain(refused)
})

const error = (status: number) =>
  faults.status(status, { 'content-type': 'application/json' }, '{"error":{"message":"secret-token-1 of harbour@example.com"}}')

test.each([
  [302, 'protocol'],
  [400, 'rejected'],
  [401, 'credentials'],
  [403, 'forbidden'],
  [404, 'topic_missing'],
  [413, 'too_large'],
  [429, 'quota'],
  [500, 'unavailable'],
  [503, 'unavailable'],
])('%i is shown as %s, without what stood in it, and tried again', async (status, code) => {
  const topic = `status-${status}`
  const { pipeline, came } = await story(topic, error(status))
  const failing = await soon(async () => {
    const state = await pipeline.state()
    expect(state.last_error).toMatchObject({ code, message: expect.stringMatching(/^[A-Z].+\.$/) })
    return state
  })
  expect(failing).toMatchObject({ delivered: 0, lag: 2, next_try_at: expect.any(String) })
  expect(JSON.stringify(failing)).not.toContain('secret-token')
  const tries = came().length
  behaviours.set(topic, confirm)
  w.passes(2 * MINUTE)
  await soon(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, lag: 0, last_error: null }))
  expect(came().length).toBe(tries + 2)
})

test.each([
  ['says yes to anything', faults.ok, 'protocol'],
  ['names no message', faults.status(200, {}, '{"messageIds":[]}'), 'protocol'],
  ['never stops talking', faults.endless, 'protocol'],
  ['speaks no HTTP', faults.noHttp, 'protocol'],
  ['hangs up', faults.hangUp, 'closed'],
])('something that %s has confirmed nothing', async (name, behaviour, code) => {
  const { pipeline } = await story(name.replaceAll(' ', '-'), behaviour)
  await soon(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code }, delivered: 0, lag: 2 }))
})

test('a certificate that nobody trusts is not spoken to', async () => {
  const stranger = await openReceiver(confirm, newCertificate(['127.0.0.1']))
  const outlet = await openTopic({ endpoint: `https://127.0.0.1:${stranger.port}`, ca: certificate.cert })
  await expect(outlet.publish(message)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  expect(stranger.received).toEqual([])
  await Promise.all([outlet.close(), stranger.close()])
})

test('no token goes where nothing is encrypted', async () => {
  const plain = await openReceiver(confirm)
  const before = given
  const outlet = await openTopic({ endpoint: `http://127.0.0.1:${plain.port}` })
  await outlet.publish(message)
  expect(plain.received).toHaveLength(1)
  expect(plain.received[0]?.headers).not.toHaveProperty('authorization')
  expect(given).toBe(before)
  await Promise.all([outlet.close(), plain.close()])
})

test('a project that the operator shut since is not published to', async () => {
  const before = google.received.length
  await expect(openTopic({ projects: ['harbour-lab'] })).rejects.toMatchObject({ code: 'project_refused' })
  expect(google.received).toHaveLength(before)
})

test('stopping does not wait for a token that never comes, and it is asked for anew', async () => {
  const tokens = googleTokens()
  const ends = new AbortController()
  const asked = tokenServer.received.length
  tokenServer.behave(faults.neverAnswers)
  const opening = openTopic({ tokens }, ends.signal)
  await tokenServer.has(asked + 1)
  ends.abort()
  await expect(opening).rejects.toMatchObject({ code: 'credentials' })
  tokenServer.behave(token)
  const outlet = await openTopic({ tokens, ca: certificate.cert })
  await outlet.publish(message)
  expect(google.received.at(-1)?.headers).toMatchObject({ authorization: `Bearer secret-token-${given}` })
  await outlet.close()
})

test('without credentials nothing is sent, and what the library says is not passed on', async () => {
  const before = google.received.length
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(temporaryFolder(), 'nothing-here.json'))
  await expect(openTopic({ tokens: googleTokens() })).rejects.toMatchObject({ code: 'credentials', message: 'credentials' })
  expect(google.received).toHaveLength(before)
})

const message = { event_id: 'e', event_type: 'endpoint.disabled', key: 'a', content: Buffer.from('{}'), timestamp: 0, gzipped: false }

type Changes = Partial<OutboundOptions['pubsub']> & { ca?: string }

/** A way to a topic, without a pipeline. */
function openTopic({ ca, ...pubsub }: Changes, ends?: AbortSignal) {
  const reach = outboundOptionsOf(w.app.config)
  return openPubSub({ project, topic: 'direct', message_ordering: false }, { ...reach, pubsub: { ...reach.pubsub, ...pubsub }, ca }, ends)
}
