import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { headersOf, parseSecret, signatures } from '../../src/delivery/webhooks/sign.ts'
import { atEnd } from '../support/at-end.ts'
import { placeOrder } from '../support/orders.ts'
import { reservePort } from '../support/ports.ts'
import { eventually, run } from '../support/process.ts'
import { newUuid, newWebhookSecret } from '../support/seeded.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import { temporaryFolder, world } from '../support/world.ts'
import { blocksOf } from './support/blocks.ts'
import { goSettings, tools } from './support/tools.ts'

const w = await world()
await w.startDelivery()

const blocks = blocksOf('docs/guides/webhook-receivers.md')
const home = { HOME: process.env['HOME'] }

/** Saves a receiver of the guide with another port. */
function saveReceiver(file: string, port: number) {
  const { text } = blocks.find(({ attributes }) => attributes['file'] === file) as (typeof blocks)[number]
  const path = join(temporaryFolder(), file)
  writeFileSync(path, text.replace('9099', String(port)))
  return path
}

function build(source: string) {
  const binary = source.replace(/\.go$/, '')
  execFileSync('go', ['build', '-o', binary, source], { env: { ...process.env, ...goSettings } })
  return binary
}

const languages: [name: string, tool: string | undefined, command: (port: number) => string[]][] = [
  ['TypeScript', undefined, (port) => [process.execPath, saveReceiver('receiver.ts', port)]],
  ['Python', 'python3', (port) => ['python3', saveReceiver('receiver.py', port)]],
  ['Go', 'go', (port) => [build(saveReceiver('receiver.go', port))]],
]

async function startReceiver(command: (port: number) => string[], secret: string) {
  const port = await reservePort()
  const running = run(command(port), { env: { ...home, SECRET: secret } })
  atEnd(async () => {
    running.child.kill()
    await running.exited
  })
  const url = `http://127.0.0.1:${port}/`
  await eventually(() => fetch(url, { method: 'POST' }))
  return { url, lines: () => running.output.stdout.trim().split('\n') }
}

const post = async (url: string, headers: Record<string, string>, body: string) =>
  (await fetch(url, { method: 'POST', headers, body })).status

const at = (shift: number) => Math.floor(Date.now() / 1000) + shift

type SignedMessage = { shift: number; sequence: number; previous: number; body: string }

/** A message signed like ours, at any time. */
function signMessage(
  secret: string,
  { shift = 0, sequence = 1, previous, body = '{"event_type":"labtest.order.updated"}' }: Partial<SignedMessage> = {},
) {
  const [id, timestamp] = [newUuid(), at(shift)]
  const headers = headersOf({
    id,
    timestamp,
    signature: signatures([parseSecret(secret)], id, timestamp, body),
    sequence,
    previous: previous ?? null,
    key: 'order:1',
  })
  return [headers, body] as const
}

for (const [name, tool, command] of languages) {
  const missing = tool !== undefined && !tools.has(tool)
  const title = `the receiver in ${name} accepts our messages once and in order and rejects others`
  test.skipIf(missing)(missing ? `${title} (skipped: ${tool} is not installed)` : title, async () => {
    const secret = newWebhookSecret()
    const receiver = await startReceiver(command, secret)
    const tenant = await w.tenant()
    const copies = await aReceiver()
    const webhook = await aWebhook(tenant, { url: receiver.url, secret })
    await aWebhook(tenant, { url: copies.url, secret })
    const expectLine = async (line: string) => expect(await eventually(() => receiver.lines().includes(line) || undefined), line).toBe(true)

    await placeOrder(tenant.api)
    await expectLine('received labtest.order.created 2')
    const [copy] = await copies.has(1)
    const headers = Object.fromEntries(
      Object.entries(copy?.headers as Record<string, string>).filter(([name]) => name.startsWith('webhook-')),
    )
    const body = copy?.body as string
    expect(await post(receiver.url, headers, body)).toBe(204)
    await expectLine(`duplicate ${headers['webhook-id']}`)

    const before = receiver.lines().length
    expect(await post(receiver.url, headers, body.replace('ordered', 'orderad'))).toBe(400)
    expect(await post(receiver.url, { ...headers, 'webhook-id': newUuid() }, body)).toBe(400)
    expect(await post(receiver.url, { ...headers, 'webhook-signature': 'v1,%%% v1a,AAAA v2,AAAA' }, body)).toBe(400)
    expect(await post(receiver.url, ...signMessage(newWebhookSecret()))).toBe(400)
    expect(await post(receiver.url, ...signMessage(secret, { shift: -400 }))).toBe(400)
    expect(await post(receiver.url, ...signMessage(secret, { shift: 400 }))).toBe(400)
    expect(await post(receiver.url, { 'webhook-timestamp': 'soon' }, body)).toBe(400)
    await eventually(() => receiver.lines().length === before + 7 || undefined)
    const rejected = receiver.lines().slice(before)
    expect(rejected).toEqual([...Array(4).fill('rejected: wrong signature'), ...Array(3).fill('rejected: timestamp outside tolerance')])

    await tenant.admin.rotateWebhookSecret({ params: webhook.params, body: {} })
    await placeOrder(tenant.api)
    // The event in between creates a user, and the filter leaves it out.
    await expectLine('received labtest.order.created 4')

    expect(await post(receiver.url, ...signMessage(secret, { sequence: 11, previous: 4 }))).toBe(204)
    await expectLine('received labtest.order.updated 11')
    expect(await post(receiver.url, ...signMessage(secret, { sequence: 17, previous: 15 }))).toBe(204)
    await expectLine('received labtest.order.updated 17 (15 is missing)')
    expect(await post(receiver.url, ...signMessage(secret, { sequence: 15, previous: 11 }))).toBe(204)
    await expectLine('received labtest.order.updated 15')
    // A replayed message names none before it.
    expect(await post(receiver.url, ...signMessage(secret, { sequence: 3 }))).toBe(204)
    await expectLine('received labtest.order.updated 3')
  })
}
