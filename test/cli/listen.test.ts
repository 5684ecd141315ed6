import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Webhook } from 'svix'
import { expect, test } from 'vitest'
import { place } from '../support/orders.ts'
import { openReceiver } from '../support/receiver.ts'
import { atEnd, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const command = join(import.meta.dirname, '../../bin/assay.mjs')
const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

test('assay listen prints what happens and posts it on, signed', async () => {
  const receiver = await openReceiver()
  atEnd(() => receiver.close())
  await place(w.api)
  await w.runJobs()
  const args = ['listen', '--url', w.base, '--key', w.team_api_key, '--forward', receiver.url, '--secret', secret]
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  atEnd(async () => child.kill())
  const lines = createInterface(child.stdout)
  const printed = once(lines, 'line')
  // Until it stands in the log, whoever listens may not be there yet; so something new happens until something is heard.
  const heard = receiver.has(1)
  let done = false
  heard.then(() => {
    done = true
  })
  while (!done) {
    await place(w.api)
    await w.runJobs()
  }
  const [got] = await heard
  const body = got?.body ?? ''
  new Webhook(secret).verify(body, got?.headers as Record<string, string>)
  expect(JSON.parse(body)).toMatchObject({ team_id: w.team_id, event_type: expect.stringMatching(/^labtest\.order\./) })
  expect(String((await printed)[0])).toMatch(/labtest\.order\.\w+ .*verified → 200$/)
})

test('assay listen says why it may not', async () => {
  const { code, err } = await assay(w.url).run('listen', '--url', w.base, '--key', 'sk_us_nothing')
  expect([code, err]).toEqual([1, expect.stringMatching(/^The service refused to stream: The team API key is unknown/)])
})
