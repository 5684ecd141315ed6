import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { OutboundOptions } from '../../src/delivery/pipelines/destinations/destination.ts'
import { openPubSub } from '../../src/delivery/pipelines/destinations/destination-pubsub.ts'
import { googleTokens } from '../../src/delivery/pipelines/destinations/google-tokens.ts'
import { outboundOptionsOf } from '../../src/delivery/pipelines/destinations/outbound-options.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { newCertificate } from '../support/certificate.ts'
import { aPipeline, emitEvents } from '../support/pipelines.ts'
import { type Behavior, faults, openReceiver, type Receiver } from '../support/receiver.ts'
import { waitFor } from '../support/webhooks.ts'
import { temporaryFolder, world } from '../support/world.ts'

const certificate = newCertificate(['127.0.0.1'])
const project = 'harbor-events'
const confirm: Behavior = faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}')

/** How the fake Pub/Sub server handles each topic; by default it confirms every message. */
const behaviors = new Map<string, Behavior>()
const behave: Behavior = (response) => (behaviors.get(topicOf(response.req.url)) ?? confirm)(response)
const topicOf = (path = '') => /\/topics\/(.*):publish$/.exec(path)?.[1] ?? ''

let w: Awaited<ReturnType<typeof world>>
let google: Receiver
let tokenServer: Receiver
let tokensIssued = 0

const token: Behavior = (response) => {
  const body = {
    access_token: `secret-token-${++tokensIssued}`,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: 3600,
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Writes a workload identity file that points to the local token server. */
function writeIdentityFile() {
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
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', writeIdentityFile())
  w = await world({ env: { PUBSUB_PROJECTS: project, PUBSUB_ENDPOINT } })
  await w.startDelivery(undefined, { ca: certificate.cert })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await google?.close()
  await tokenServer?.close()
})

/** Creates a team with a pipeline to a topic, and emits events. */
async function publishTo(topic: string, behavior: Behavior = confirm, keys = ['a', 'a']) {
  behaviors.set(topic, behavior)
  const tenant = await w.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: { project, topic, message_ordering: true } })
  const ids = await emitEvents(w.app, tenant, keys)
  const requests = () => google.received.filter(({ path }) => topicOf(path) === topic)
  return { tenant, pipeline, ids, requests }
}

test('publishes to the REST path of the topic with the token of the deployment', async () => {
  const { ids, requests, pipeline } = await publishTo('plain')
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, lag: 0 }))
  expect(requests().map(({ path }) => path)).toEqual(Array(2).fill('/v1/projects/harbor-events/topics/plain:publish'))
  const messages = requests().map(({ body }) => JSON.parse(body).messages)
  expect(messages).toMatchObject(ids.map((event_id) => [{ attributes: { event_id }, orderingKey: 'a', data: expect.any(String) }]))
  for (const { headers } of requests())
    expect(headers).toMatchObject({ authorization: 'Bearer secret-token-1', 'content-type': 'application/json' })
  expect(tokensIssued).toBe(1)
})

test('escapes a percent sign in a topic name', async () => {
  const { requests, pipeline } = await publishTo('half%25off')
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2 }))
  expect(requests()).toEqual([])
  expect(google.received.at(-1)?.path).toBe('/v1/projects/harbor-events/topics/half%2525off:publish')
})

test('fetches a new token once when several requests are rejected with the same token', async () => {
  const before = tokensIssued
  const staleToken = `Bearer secret-token-${before}`
  const stale: Behavior = (response) =>
    response.req.headers.authorization === staleToken ? faults.status(401)(response) : confirm(response)
  const { pipeline, requests } = await publishTo('stale', stale, ['a', 'b', 'c', 'd', 'e', 'f'])
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 6, lag: 0, last_error: null }))
  expect(tokensIssued).toBe(before + 1)
  const tokens = requests().map(({ headers }) => headers['authorization'])
  expect(tokens.filter((token) => token === `Bearer secret-token-${tokensIssued}`)).toHaveLength(6)
  expect(tokens).toContain(staleToken)
})

const error = (status: number) =>
  faults.status(status, { 'content-type': 'application/json' }, '{"error":{"message":"secret-token-1 of harbor@example.com"}}')

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
])('reports status %i as %s without the response text and retries', async (status, code) => {
  const topic = `status-${status}`
  const { pipeline, requests } = await publishTo(topic, error(status))
  const failing = await waitFor(async () => {
    const state = await pipeline.state()
    expect(state.last_error).toMatchObject({ code, message: expect.stringMatching(/^[A-Z].+\.$/) })
    return state
  })
  expect(failing).toMatchObject({ delivered: 0, lag: 2, next_try_at: expect.any(String) })
  expect(JSON.stringify(failing)).not.toContain('secret-token')
  const attempts = requests().length
  behaviors.set(topic, confirm)
  w.advanceTime(2 * MINUTE)
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ delivered: 2, lag: 0, last_error: null }))
  expect(requests().length).toBe(attempts + 2)
})

test.each([
  ['responds 200 without message IDs', faults.ok, 'protocol'],
  ['confirms no message', faults.status(200, {}, '{"messageIds":[]}'), 'protocol'],
  ['sends an endless response', faults.endless, 'protocol'],
  ['does not speak HTTP', faults.notHttp, 'protocol'],
  ['hangs up', faults.hangUp, 'closed'],
])('does not count events as delivered by a server that %s', async (name, behavior, code) => {
  const { pipeline } = await publishTo(name.replaceAll(' ', '-'), behavior)
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ last_error: { code }, delivered: 0, lag: 2 }))
})

test('does not publish to a server with an untrusted certificate', async () => {
  const otherServer = await openReceiver(confirm, newCertificate(['127.0.0.1']))
  const destination = await openTopic({ endpoint: `https://127.0.0.1:${otherServer.port}`, ca: certificate.cert })
  await expect(destination.publish(message)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  expect(otherServer.received).toEqual([])
  await Promise.all([destination.close(), otherServer.close()])
})

test('sends no token over plain HTTP', async () => {
  const plain = await openReceiver(confirm)
  const before = tokensIssued
  const destination = await openTopic({ endpoint: `http://127.0.0.1:${plain.port}` })
  await destination.publish(message)
  expect(plain.received).toHaveLength(1)
  expect(plain.received[0]?.headers).not.toHaveProperty('authorization')
  expect(tokensIssued).toBe(before)
  await Promise.all([destination.close(), plain.close()])
})

test('does not publish to a project that the operator no longer allows', async () => {
  const before = directRequests().length
  await expect(openTopic({ projects: ['harbor-lab'] })).rejects.toMatchObject({ code: 'project_refused' })
  expect(directRequests()).toHaveLength(before)
})

test('stops without waiting for a token and requests a new one later', async () => {
  const tokens = googleTokens()
  const ends = new AbortController()
  const tokenRequests = tokenServer.received.length
  tokenServer.behave(faults.neverResponds)
  const opening = openTopic({ tokens }, ends.signal)
  await tokenServer.waitForMessages(tokenRequests + 1)
  ends.abort()
  await expect(opening).rejects.toMatchObject({ code: 'credentials' })
  tokenServer.behave(token)
  const destination = await openTopic({ tokens, ca: certificate.cert })
  await destination.publish(message)
  expect(directRequests().at(-1)?.headers).toMatchObject({ authorization: `Bearer secret-token-${tokensIssued}` })
  await destination.close()
})

test('sends nothing without credentials and hides the library error', async () => {
  const before = directRequests().length
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(temporaryFolder(), 'nothing-here.json'))
  await expect(openTopic({ tokens: googleTokens() })).rejects.toMatchObject({ code: 'credentials', message: 'credentials' })
  expect(directRequests()).toHaveLength(before)
})

const message = {
  ...{ event_id: 'e', event_type: 'endpoint.disabled', key: 'a', content: Buffer.from('{}'), timestamp: 0, gzipped: false },
  content_type: 'application/json',
}

type Changes = Partial<OutboundOptions['pubsub']> & { ca?: string }

/** The requests of `openTopic`. The failing pipelines of earlier tests retry in the background. */
const directRequests = () => google.received.filter(({ path }) => topicOf(path) === 'direct')

/** Opens a Pub/Sub destination without a pipeline. */
function openTopic({ ca, ...pubsub }: Changes, ends?: AbortSignal) {
  const options = outboundOptionsOf(w.app.config)
  return openPubSub(
    { project, topic: 'direct', message_ordering: false },
    { ...options, pubsub: { ...options.pubsub, ...pubsub }, ca },
    ends,
  )
}
