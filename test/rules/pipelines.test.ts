import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { EventEnvelope } from '../../src/contract/delivery/event.ts'
import { messageOf } from '../../src/delivery/pipelines/destinations/message.ts'
import { publishAll } from '../../src/delivery/pipelines/publishing/publish.ts'
import { checkProject, newPipeline, patternsOf, settingsFrom } from '../../src/delivery/pipelines/rules.ts'
import { failureOf, failureOfStatus, failures, retryAt, waits } from '../../src/delivery/pipelines/rules-failure.ts'
import { brokerOf, hidePassword, restorePassword } from '../../src/delivery/pipelines/uri.ts'
import { parseCidr, strictPolicy } from '../../src/platform/outbound/address.ts'
import { pageText } from '../docs/support/blocks.ts'
import { moduleOf } from '../docs/support/modules.ts'
import { newUuid } from '../support/seeded.ts'

const at = '2026-03-01T09:30:00.000Z'
const sandbox = { https_only: false, allow_loopback: true, allowed: [] }

describe('broker URI', () => {
  test('contains host, port, virtual host and credentials', () => {
    expect(brokerOf('amqps://reader:p%40ss%3Aword@broker.example.com/eu%2Flabs', strictPolicy)).toEqual({
      secure: true,
      hostname: 'broker.example.com',
      port: 5671,
      username: 'reader',
      password: 'p@ss:word',
      vhost: 'eu%2Flabs',
    })
    expect(brokerOf('amqp://a:b@127.0.0.1', sandbox)).toMatchObject({ secure: false, port: 5672, vhost: '' })
    expect(brokerOf('AMQPS://a:b@[2606:4700::6810:1]:443/', strictPolicy)).toMatchObject({ hostname: '2606:4700::6810:1', port: 443 })
    expect(brokerOf('amqps://a:b@10.20.0.5', { ...strictPolicy, allowed: [parseCidr('10.20.0.0/16')] })).toMatchObject({
      hostname: '10.20.0.5',
    })
  })

  test.each([
    ['https://a:b@broker.example.com', 'malformed'],
    ['amqps:broker.example.com', 'malformed'],
    ['amqps://a:b@', 'malformed'],
    ['amqps://a:b@c@broker.example.com', 'malformed'],
    ['amqps://a:b@bröker.example.com', 'malformed'],
    ['amqps://a:b@broker.example.com\\@evil.example', 'malformed'],
    ['amqps://a:b@broker.example.com/?heartbeat=1', 'query'],
    ['amqp://a:b@broker.example.com', 'scheme'],
    ['amqps://broker.example.com', 'credentials'],
    ['amqps://a@broker.example.com', 'credentials'],
    ['amqps://a:@broker.example.com', 'credentials'],
    ['amqps://a:b:c@broker.example.com', 'credentials'],
    ['amqps://a:%zz@broker.example.com', 'credentials'],
    ['amqps://***:***@broker.example.com', 'credentials'],
    ['amqps://a:b@127.0.0.1', 'address'],
    ['amqps://a:b@10.0.0.7', 'address'],
    ['amqps://a:b@169.254.169.254', 'address'],
    ['amqps://a:b@[::1]', 'address'],
    ['amqps://a:b@localhost', 'address'],
    ['amqps://a:b@rabbitmq', 'address'],
    ['amqps://a:b@rabbit.internal', 'address'],
    ['amqps://a:b@2130706433', 'host'],
    ['amqps://a:b@0x7f.1', 'host'],
    ['amqps://a:b@broker.example.com.', 'host'],
    ['amqps://a:b@broker.example.com:22', 'port'],
    ['amqps://a:b@broker.example.com:6667', 'port'],
  ])('%s is rejected in production: %s', (uri, reason) => {
    expect(() => brokerOf(uri, strictPolicy)).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ error_type: 'BROKER_URI_REFUSED', reason }) }),
    )
  })

  test('is returned masked, and the masked URI restores the stored credentials', () => {
    const uri = 'amqps://reader:secret@broker.example.com:5671/eu'
    expect(hidePassword(uri)).toBe('amqps://***:***@broker.example.com:5671/eu')
    expect(restorePassword(hidePassword(uri), uri)).toBe(uri)
    expect(restorePassword('amqps://***:***@evil.example.com:5671/eu', uri)).toBe('amqps://***:***@evil.example.com:5671/eu')
  })
})

describe('pipeline settings', () => {
  const stored = { push_historical_data: true, preferred: 'rabbitmq', enabled: ['rabbitmq'], event_type_prefixes: ['labtest.'] }
  const rabbitmq = { uri: 'amqps://a:b@broker.example.com', exchange: 'events' }
  const cloud_pubsub = { project: 'harbor-events', topic: 'health', message_ordering: true }

  test('enable every destination of a new pipeline', () => {
    const defaults = { push_historical_data: false, event_type_prefixes: null }
    expect(settingsFrom({ rabbitmq }, newPipeline, [])).toEqual({ ...defaults, preferred: 'rabbitmq', enabled: ['rabbitmq'] })
    expect(settingsFrom({ cloud_pubsub }, newPipeline, [])).toEqual({ ...defaults, preferred: 'cloud_pubsub', enabled: ['cloud_pubsub'] })
    expect(settingsFrom({ rabbitmq, cloud_pubsub }, newPipeline, [])).toEqual({
      ...defaults,
      preferred: 'cloud_pubsub',
      enabled: ['cloud_pubsub', 'rabbitmq'],
    })
  })
  test('keep their values if a field is absent or null', () => {
    const nothing = { push_historical_data: null, preferences: null, event_type_prefixes: null, rabbitmq: null, cloud_pubsub: null }
    expect(settingsFrom(nothing, stored, ['rabbitmq'])).toEqual(stored)
  })
  test('change if a field is sent, and no prefixes match every event type', () => {
    const body = { push_historical_data: false, preferences: { preferred: 'rabbitmq' as const, enabled: [] }, event_type_prefixes: [] }
    expect(settingsFrom(body, stored, ['rabbitmq'])).toEqual({
      push_historical_data: false,
      preferred: 'rabbitmq',
      enabled: [],
      event_type_prefixes: null,
    })
  })
  test('enable an added destination and keep a changed one paused', () => {
    expect(settingsFrom({ cloud_pubsub }, stored, ['rabbitmq']).enabled).toEqual(['rabbitmq', 'cloud_pubsub'])
    expect(settingsFrom({ cloud_pubsub }, stored, ['cloud_pubsub', 'rabbitmq']).enabled).toEqual(['rabbitmq'])
  })
  test.each([
    [[], false],
    [['harbor-lab'], false],
    [['harbor-lab', 'harbor-events'], true],
    [['*'], true],
  ])('accept a topic of harbor-events if %j is allowed: %s', (open, isOpen) => {
    const check = () => checkProject(cloud_pubsub, open)
    if (isOpen) expect(check).not.toThrow()
    else expect(check).toThrow(expect.objectContaining({ detail: expect.objectContaining({ error_type: 'PUBSUB_PROJECT_REFUSED' }) }))
  })
  test('turn prefixes into event patterns', () => {
    expect(patternsOf(['daily.data.', 'labtest.order.created'])).toEqual(['daily.data.*', 'labtest.order.created*'])
    expect(patternsOf(null)).toBeNull()
  })
})

describe('publish failure', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 5],
    [4, 10],
    [5, 30],
    [6, 60],
    [7, 60],
    [500, 60],
  ])('retries failure %i in a row after %i seconds plus up to 20%%', (failures, seconds) => {
    const wait = (random: number) => Date.parse(retryAt(failures, at, random)) - Date.parse(at)
    expect([wait(0), wait(1)]).toEqual([seconds * 1000, seconds * 1200])
  })
  test('has waits that never get shorter', () => {
    expect(waits).toEqual([...waits].sort((a, b) => a - b))
  })

  test.each([
    [{ code: 'ECONNREFUSED' }, 'refused'],
    [{ code: 'FORBIDDEN_ADDRESS' }, 'forbidden_address'],
    [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'tls'],
    [{ code: 403 }, 'forbidden'],
    [{ code: 404 }, 'exchange_missing'],
    [{ code: 406 }, 'too_large'],
    [{ code: 320 }, 'closed'],
    [{ code: 'unroutable' }, 'unroutable'],
    [{ message: 'Handshake terminated by server: 403 (ACCESS-REFUSED) with message "…"' }, 'login'],
    [{ message: 'Expected ConnectionOpenOk; got <ConnectionClose channel:0>' }, 'vhost'],
    [{ message: 'message nacked' }, 'nacked'],
    [{ message: 'channel closed' }, 'closed'],
    [{ message: 'Frame size 2021161080 exceeds maxFrameSize 1048576' }, 'protocol'],
    [{ code: 'UND_ERR_SOCKET', message: 'other side closed' }, 'closed'],
    [{ code: 'UND_ERR_CONNECT_TIMEOUT' }, 'timeout'],
    [{ code: 'HPE_INVALID_CONSTANT' }, 'protocol'],
    [{ message: 'Response does not match the HTTP/1.1 protocol (Expected HTTP/, RTSP/ or ICE/)' }, 'protocol'],
    [{ code: 'ENOTFOUND' }, 'dns'],
    [{ message: 'something else' }, 'failed'],
  ])('classifies %o as %s', (error, failure) => {
    expect(failureOf(error)).toBe(failure)
  })
})

test.each([
  [200, undefined],
  [302, 'protocol'],
  [400, 'rejected'],
  [401, 'credentials'],
  [403, 'forbidden'],
  [404, 'topic_missing'],
  [413, 'too_large'],
  [418, 'protocol'],
  [429, 'quota'],
  [500, 'unavailable'],
  [503, 'unavailable'],
])('Pub/Sub status %i means %s', (status, failure) => {
  expect(failureOfStatus(status)).toBe(failure)
})

const anEvent = (text = ''): EventEnvelope => ({
  event_type: 'endpoint.disabled',
  data: { text },
  team_id: newUuid(),
  user_id: null,
  client_user_id: null,
  event_id: newUuid(),
  created_at: at,
})

const inFull = (event: EventEnvelope, key: string) => ({
  event_id: event.event_id,
  event_type: event.event_type,
  created_at: event.created_at,
  key,
  text: JSON.stringify(event),
  content_type: 'application/json',
})

describe('published message', () => {
  const bytes = (event: EventEnvelope) => Buffer.byteLength(JSON.stringify(event))
  const ofBytes = (size: number) => {
    const empty = anEvent()
    return { ...empty, data: { text: 'x'.repeat(size - bytes(empty)) } }
  }
  test.each([1023, 1024])('of %i bytes is not compressed', async (size) => {
    const event = ofBytes(size)
    expect(await messageOf(inFull(event, 'a'))).toEqual({
      event_id: event.event_id,
      event_type: 'endpoint.disabled',
      key: 'a',
      content_type: 'application/json',
      content: Buffer.from(JSON.stringify(event)),
      timestamp: Date.parse(at) / 1000,
      gzipped: false,
    })
  })
  test('of 1025 bytes is compressed', async () => {
    const event = ofBytes(1025)
    const { gzipped, content } = await messageOf(inFull(event, 'a'))
    expect(gzipped).toBe(true)
    expect(JSON.parse(gunzipSync(content).toString())).toEqual(event)
  })
})

describe('page of events', () => {
  /** A broker that confirms or rejects when the test says so. */
  function slowBroker() {
    const sent: { id: string; confirm(): void; refuse(): void }[] = []
    const publish = ({ event_id }: { event_id: string }) =>
      new Promise<void>((resolve, reject) =>
        sent.push({ id: event_id, confirm: resolve, refuse: () => reject(new Error('message nacked')) }),
      )
    return { sent, destination: { publish } }
  }
  const page = (...keys: string[]) => keys.map((key) => inFull(anEvent(), key))
  const isNotOver = () => false
  const turn = () => new Promise((done) => setImmediate(done))
  const until = async (holds: () => boolean) => {
    while (!holds()) await turn()
  }

  test('is published concurrently, except for events of the same key', async () => {
    const { sent, destination } = slowBroker()
    const logged = page('a', 'b', 'a', 'c')
    const done = publishAll(destination, logged, isNotOver)
    await until(() => sent.length === 2)
    await turn()
    expect(sent.map(({ id }) => id)).toEqual(logged.slice(0, 2).map(({ event_id }) => event_id))
    sent[0]?.confirm()
    await until(() => sent.length === 4)
    for (const message of sent) message.confirm()
    expect(await done).toEqual({ confirmed: 4 })
    expect(sent.map(({ id }) => id)).toEqual(logged.map(({ event_id }) => event_id))
  })

  test('stops before the first rejected event and holds back later events of its key', async () => {
    const { sent, destination } = slowBroker()
    const done = publishAll(destination, page('a', 'b', 'c', 'b', 'd'), isNotOver)
    await until(() => sent.length === 3)
    sent[1]?.refuse()
    sent[2]?.confirm()
    sent[0]?.confirm()
    expect(await done).toEqual({ confirmed: 1, error: expect.objectContaining({ message: 'message nacked' }) })
    expect(sent).toHaveLength(3)
  })

  test('stops after the events in flight once the run is over', async () => {
    const { sent, destination } = slowBroker()
    let isOver = false
    const done = publishAll(destination, page('a', 'b', 'a', 'c'), () => isOver)
    await until(() => sent.length === 2)
    isOver = true
    for (const message of sent) message.confirm()
    expect(await done).toEqual({ confirmed: 2 })
    expect(sent).toHaveLength(2)
  })
})

describe('docs/pipelines.md', () => {
  const page = pageText('docs/pipelines.md')
  test('documents the waits and every failure', () => {
    const row = page.split('\n').find((line) => line.startsWith('| Next attempt after')) as string
    expect([...row.matchAll(/(\d+) s/g)].map(([, seconds]) => Number(seconds) * 1000)).toEqual(waits)
    expect(Object.keys(failures).filter((code) => code !== 'failed' && !page.includes(`\`${code}\``))).toEqual([])
  })
  test('has sample code that reads published messages', async () => {
    const { eventFromRabbitMq } = await moduleOf('docs/pipelines.md', 'eventFromRabbitMq')
    const { eventFromPubSub } = await moduleOf('docs/pipelines.md', 'eventFromPubSub')
    for (const event of [anEvent(), anEvent('long '.repeat(1000))]) {
      const { content, gzipped } = await messageOf(inFull(event, 'a'))
      const properties = { contentType: 'application/json', ...(gzipped && { contentEncoding: 'gzip' }) }
      expect(eventFromRabbitMq({ content, properties })).toEqual(event)
      expect(eventFromRabbitMq({ content, properties: { ...properties, contentType: 'application/x-new' } })).toBeUndefined()
      const data = content.toString('base64')
      const attributes = { 'Content-Type': 'application/json', ...(gzipped && { 'Content-Encoding': 'gzip' }) }
      expect(eventFromPubSub({ data, attributes })).toEqual(event)
      expect(eventFromPubSub({ data, attributes: { ...attributes, 'Content-Encoding': 'br' } })).toBeUndefined()
    }
  })
})
