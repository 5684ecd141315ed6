import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Webhook } from 'svix'
import { expect, test } from 'vitest'
import { exampleOf } from '../../src/contract/events.ts'
import { atEnd } from '../support/at-end.ts'
import { placeOrder } from '../support/orders.ts'
import { openReceiver } from '../support/receiver.ts'
import { world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const command = join(import.meta.dirname, '../../bin/assay.mjs')
const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

test('assay listen prints events and forwards them signed', async () => {
  const receiver = await openReceiver()
  atEnd(() => receiver.close())
  await placeOrder(w.api)
  await w.runJobs()
  const args = ['listen', '--url', w.base, '--key', w.team_api_key, '--forward', receiver.url, '--secret', secret, '--types', 'labtest.*']
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  atEnd(async () => child.kill())
  const lines = createInterface(child.stdout)
  const printed = once(lines, 'line')
  // The listener may not be connected yet, so the test keeps placing orders until a message arrives.
  const arrived = receiver.waitForMessages(1)
  let done = false
  arrived.then(() => {
    done = true
  })
  while (!done) {
    await placeOrder(w.api)
    await w.runJobs()
  }
  const [message] = await arrived
  const body = message?.body ?? ''
  new Webhook(secret).verify(body, message?.headers as Record<string, string>)
  expect(JSON.parse(body)).toMatchObject({ team_id: w.team_id, event_type: expect.stringMatching(/^labtest\.order\./) })
  expect(String((await printed)[0])).toMatch(/labtest\.order\.\w+ .*verified → 200$/)
})

/** A service that streams these events once and then rejects every key. */
async function streamOnce(events: object[]) {
  const blocks = events.map((event, i) => `id: cursor-${i}\ndata: ${JSON.stringify(event)}\n\n`)
  let requests = 0
  const server = createServer((_, response) => {
    if (requests++) return response.writeHead(401).end('{"detail":{"error_type":"INVALID_API_KEY","error_message":"The key is gone."}}')
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(blocks.join(''))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(async () => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const good = exampleOf('labtest.order.created')
const bad = exampleOf('provider.connection.created', { user_id: 'Zephyrine' } as object)
const { team_id: _, ...without } = exampleOf('daily.data.steps.created')
/** JSON may contain line separators that are not line ends of the stream. */
const withSeparator = { ...good, client_user_id: 'ward\u2028seven' }
const odd = [withSeparator, { ...bad, data: { ...bad.data, source: 7 } }, without, { ...good, event_type: 'labtest.order.dreamt' }]

test('assay listen reports events that do not match their schema, without their values', async () => {
  const url = await streamOnce(odd)
  const { out, err } = await assay(w.url).run('listen', '--url', url, '--key', w.team_api_key)
  expect(out.trim().split('\n')).toHaveLength(4)
  const of = (type: string) => `${type} ${good.event_id} does not match its schema:`
  expect(err.split('\n').slice(0, 7)).toEqual([
    of('provider.connection.created'),
    '  data.source: Must be an object.',
    '  user_id: Must be a UUID.',
    of('daily.data.steps.created'),
    '  team_id: This field is required.',
    of('labtest.order.dreamt'),
    '  event_type: this version of assay does not know the type',
  ])
  expect(err).not.toContain('labtest.order.created')
  expect(err).not.toContain('Zephyrine')
})

test('assay listen --json reports mismatches as JSON on standard error and prints events unchanged', async () => {
  const url = await streamOnce(odd)
  const { out, err } = await assay(w.url).run('listen', '--url', url, '--key', w.team_api_key, '--json')
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(odd)
  const lines = err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[1]).toEqual({
    event_id: bad.event_id,
    event_type: 'daily.data.steps.created',
    mismatches: ['team_id: This field is required.'],
  })
  expect(lines.at(-1)).toEqual({ error: { type: 'INVALID_API_KEY', message: expect.stringContaining('The key is gone.') } })
})

test('assay listen --after start reads the log from the beginning', async () => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(String(request.url))
    response.writeHead(401).end('{"detail":{"error_type":"INVALID_API_KEY","error_message":"The key is gone."}}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEnd(async () => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await assay(w.url).run('listen', '--url', url, '--key', w.team_api_key, '--after', 'start')
  await assay(w.url).run('listen', '--url', url, '--key', w.team_api_key)
  expect(requests).toEqual(['/events/stream?', '/events/stream?after=end'])
})

test('assay listen rejects an invalid --forward address', async () => {
  const { code, err } = await assay(w.url).run('listen', '--url', w.base, '--key', w.team_api_key, '--forward', 'localhost:3000/hook')
  expect([code, err]).toEqual([2, '--forward must be an http or https URL.\n'])
})

test('assay listen prints why the service rejected the stream', async () => {
  const { code, err } = await assay(w.url).run('listen', '--url', w.base, '--key', 'sk_us_nothing')
  expect([code, err]).toEqual([1, expect.stringMatching(/^The service rejected the stream: The team API key is unknown/)])
})
