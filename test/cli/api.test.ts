import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { aCriticalOrder, aNewOrder, aReviewer, placeOrder } from '../support/orders.ts'
import { reservePort } from '../support/ports.ts'
import { openReceiver } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const w = await world()
const cli = assay(w.url, { ASSAY_URL: w.base, ASSAY_API_KEY: w.team_api_key, ASSAY_MANAGEMENT_KEY: w.management_key })

function file(content: unknown, name = 'file.json') {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

describe('service URL and key', () => {
  const withCredentials = (base_url: string) => {
    const DATA_DIR = temporaryFolder()
    writeFileSync(join(DATA_DIR, 'credentials.json'), JSON.stringify({ base_url, team_api_key: w.team_api_key }))
    return assay(w.url, { DATA_DIR })
  }

  test('are read from credentials.json in DATA_DIR', async () => {
    expect(await withCredentials(w.base).json('users', 'list')).toMatchObject({ users: [], total: 0 })
  })

  test('can come from --url and --key-file', async () => {
    const options = ['--url', `${w.base}/`, '--key-file', file(`${w.team_api_key}\n`)]
    expect((await assay(w.url).json('users', 'list', ...options)).total).toBe(0)
  })

  test('stored keys are not sent to another URL', async () => {
    const other = await openReceiver()
    atEnd(() => other.close())
    const { code, err } = await withCredentials(w.base).run('users', 'list', '--url', new URL(other.url).origin)
    expect([code, err]).toEqual([2, expect.stringMatching(/^No key for .*: set ASSAY_API_KEY, or pass --key-file/)])
    expect(other.received).toEqual([])
  })

  test('are required', async () => {
    expect(await assay(w.url).run('users', 'list')).toMatchObject({ code: 2, err: expect.stringMatching(/^Pass --url or set ASSAY_URL/) })
  })

  test('an unreachable service, a rejected key and a missing key file fail with one line', async () => {
    const unreachable = await assay(w.url, { ASSAY_URL: `http://127.0.0.1:${await reservePort()}`, ASSAY_API_KEY: 'x' }).run(
      'users',
      'list',
    )
    expect([unreachable.code, unreachable.err]).toEqual([1, expect.stringMatching(/^Cannot reach the service \(ECONNREFUSED\)/)])
    const refused = await assay(w.url, { ASSAY_URL: w.base, ASSAY_API_KEY: 'sk_us_wrong' }).run('users', 'list', '--json')
    expect([refused.code, JSON.parse(refused.err).error.type]).toEqual([1, 'INVALID_API_KEY'])
    expect(refused.err).not.toContain('sk_us_wrong')
    expect((await assay(w.url, { ASSAY_URL: w.base }).run('users', 'list', '--key-file', '/nowhere')).err).toBe(
      'The file does not exist. Check the path.\n',
    )
  })
})

test('creates, lists, shows, deletes and undeletes users', async () => {
  const { out } = await cli.run('users', 'create', '--client-user-id', 'cli-1', '--time-zone', 'Europe/Berlin')
  const id = out.trim()
  expect(await cli.json('users', 'show', '--client-user-id', 'cli-1')).toMatchObject({
    user_id: id,
    fallback_time_zone: { id: 'Europe/Berlin' },
    orders: [],
  })
  expect((await cli.run('users', 'list')).out).toMatch(new RegExp(`^${id}  .*  cli-1  -\\n$`))
  expect((await cli.run('users', 'create', '--client-user-id', 'cli-1')).err).toMatch(/^POST \/v2\/user returned 400: /)
  expect((await cli.run('users', 'delete', '--id', id)).out).toContain(`deleted ${id}`)
  expect(await cli.run('users', 'show', '--id', id)).toMatchObject({
    code: 1,
    err: expect.stringContaining('GET /v2/user/{user_id} returned 404'),
  })
  expect((await cli.run('users', 'undelete', '--id', id)).code).toBe(0)
  expect((await cli.run('users', 'show', '--id', id)).code).toBe(0)
  expect(await cli.run('users', 'show')).toMatchObject({ code: 2, err: expect.stringContaining('either --id or --client-user-id') })
  expect(await cli.run('users', 'list', '--limit', 'many')).toMatchObject({ code: 2, err: expect.stringMatching(/^--limit must be/) })
})

describe('orders', () => {
  test('are checked and placed from a file, listed and watched until they complete', async () => {
    const { user_id, ...body } = await aNewOrder(w.api)
    const path = file(body)
    expect((await cli.run('orders', 'place', '--file', path, '--user', user_id, '--check')).out).toMatch(/^order 1: would be placed\n/)
    const order = await cli.json('orders', 'place', '--file', path, '--user', user_id, '--idempotency-key', 'once')
    expect(await cli.json('orders', 'place', '--file', path, '--user', user_id, '--idempotency-key', 'once')).toMatchObject({
      id: order.id,
    })
    expect((await cli.json('orders', 'list', '--user', user_id)).orders).toMatchObject([{ id: order.id, status: 'received' }])

    const watching = cli.run('orders', 'watch', '--id', order.id, '--json')
    await w.runJobs()
    await w.api.simulateOrder({ params: { order_id: order.id }, body: { interpretation: 'critical' } })
    await w.runJobs()
    const { code, out } = await watching
    const done = await w.api.getOrder({ params: { order_id: order.id } })
    const steps = out.trim().split('\n')
    expect([code, steps.map((line) => JSON.parse(line))]).toEqual([0, done.events.map((step) => ({ order_id: order.id, ...step }))])
    expect((await cli.run('orders', 'show', '--id', order.id)).out).toContain('completed.walk_in_test.completed')
    expect((await cli.json('orders', 'list', '--status', 'completed', '--interpretation', 'critical')).total).toBe(1)
  })

  test('a critical result is acknowledged with the person, their reference and the version that was read', async () => {
    const { id } = await aCriticalOrder(w.api)
    const { out } = await cli.run('orders', 'critical', '--id', id)
    const version = /^latest {10}report (\d+)$/m.exec(out)?.[1] as string
    const person = ['--reviewer', aReviewer.name, '--reference', aReviewer.reference, '--role', aReviewer.role]
    expect(await cli.run('orders', 'acknowledge', '--id', id, '--result-version', version)).toMatchObject({ code: 2 })
    const stale = await cli.run('orders', 'acknowledge', '--id', id, '--result-version', '1', ...person)
    expect([stale.code, stale.err]).toEqual([1, expect.stringContaining('The lab has sent a newer report.')])
    const done = await cli.run('orders', 'acknowledge', '--id', id, '--result-version', version, ...person, '--note-file', file('Called'))
    expect([done.code, done.out]).toEqual([0, expect.stringMatching(/^acknowledged {4}\S+ by Marigold Ashdown$/m)])
    expect(done.err).toBe('')
    const second = ['--reviewer', 'Peregrine Locke', '--reference', 'staff-18', '--note-file', file('Called again')]
    const { out: record, err } = await cli.run('orders', 'acknowledge', '--id', id, '--result-version', version, ...second)
    expect([record, err]).toEqual([done.out, expect.stringContaining('Someone else has already acknowledged this result.')])
    expect(await cli.json('orders', 'critical', '--id', id)).toMatchObject({ reviewer: aReviewer, note: expect.stringContaining('Called') })
  })

  test('watching a canceled order exits with 1', async () => {
    const { id } = await placeOrder(w.api)
    expect((await cli.run('orders', 'cancel', '--id', id)).out).toContain('cancelled.walk_in_test.cancelled')
    expect(await cli.run('orders', 'watch', '--id', id)).toMatchObject({ code: 1, out: expect.stringContaining('cancelled.') })
    expect((await cli.run('orders', 'cancel', '--id', newUuid())).code).toBe(1)
  })

  test('an invalid file fails with the path of the error and places nothing', async () => {
    const before = (await cli.json('orders', 'list')).total
    const body = await aNewOrder(w.api, 'walk_in_test', { patient_address: undefined })
    const checked = await cli.run('orders', 'place', '--file', file(body), '--check')
    expect([checked.code, checked.out]).toEqual([1, expect.stringMatching(/would be rejected\n {2}hard {2}body\.patient_address/)])
    const placed = await cli.run('orders', 'place', '--file', file(body))
    expect([placed.code, placed.err]).toEqual([1, expect.stringMatching(/^POST \/v3\/order returned 422: body\.patient_address: /)])
    expect((await cli.run('orders', 'place', '--file', file('{'))).err).toBe('The file is not JSON\n')
    expect((await cli.run('orders', 'place', '--file', '/nowhere')).err).toBe('The file does not exist. Check the path.\n')
    expect((await cli.run('orders', 'place', '--file', file([body, body]), '--idempotency-key', 'x')).code).toBe(1)
    expect((await cli.json('orders', 'list')).total).toBe(before)
  })

  test('a list rejected in the middle reports the placed orders', async () => {
    const [first, third] = [await aNewOrder(w.api), await aNewOrder(w.api)]
    const refused = await aNewOrder(w.api, 'walk_in_test', { patient_address: undefined })
    const { code, out, err } = await cli.run('orders', 'place', '--file', file([first, refused, third]), '--json')
    const placed = JSON.parse(out)
    expect([code, placed.map(({ user_id }: { user_id: string }) => user_id)]).toEqual([1, [first.user_id]])
    expect(JSON.parse(err).error.message).toMatch(/^Order 2 of 3: POST \/v3\/order returned 422: body\.patient_address: /)
    expect((await cli.json('orders', 'list', '--user', first.user_id)).total).toBe(1)
  })

  test('a file with a byte order mark is accepted', async () => {
    const body = await aNewOrder(w.api)
    const { user_id } = await cli.json('orders', 'place', '--file', file(`\uFEFF${JSON.stringify(body)}\r\n`))
    expect(user_id).toBe(body.user_id)
  })

  test('control characters are replaced in the output', async () => {
    const { user_id } = await w.api.createUser({ body: { client_user_id: 'patient\u001b[2J\u0007-9' } })
    const { out } = await cli.run('users', 'show', '--id', user_id)
    expect(out).toContain('patient�[2J�-9')
    expect((await cli.json('users', 'show', '--id', user_id)).client_user_id).toBe('patient\u001b[2J\u0007-9')
  })

  test('a simulation reaches the requested status', async () => {
    const { id } = await placeOrder(w.api, 'testkit')
    await w.runJobs()
    const { last_event } = await cli.json('orders', 'simulate', '--id', id, '--to', 'failed.testkit.lost')
    expect(last_event.status).toBe('failed.testkit.lost')
    expect((await cli.run('orders', 'simulate', '--id', newUuid())).code).toBe(1)
  })
})

describe('events', () => {
  test('are listed page by page and tailed from any cursor', async () => {
    await placeOrder(w.api)
    await w.runJobs()
    const page = await cli.json('events', 'list', '--types', 'labtest.order.*', '--limit', '1')
    expect(page.events).toMatchObject([{ event_type: 'labtest.order.created' }])
    const [second] = (await cli.json('events', 'list', '--after', page.next_cursor, '--types', 'labtest.order.*', '--limit', '1')).events
    const { code, out } = await cli.run(
      'events',
      'tail',
      '--after',
      page.next_cursor,
      '--types',
      'labtest.order.*',
      '--count',
      '1',
      '--json',
    )
    expect([code, JSON.parse(out).event_id]).toEqual([0, second.event_id])
    const all = await cli.run('events', 'tail', '--after', 'start', '--types', 'labtest.order.*', '--count', '2')
    expect(all.out.split('\n')[1]).toContain(second.event_id)
  })

  test('an invalid cursor is rejected', async () => {
    expect((await cli.run('events', 'tail', '--after', 'nowhere')).code).toBe(1)
  })
})

test('replay resends a time window of the log to a webhook and waits for completion', async () => {
  const at = ['--org', w.org_id, '--team', w.team_id]
  const receiver = await openReceiver()
  atEnd(() => receiver.close())
  const params = { org_id: w.org_id, team_id: w.team_id, env: 'sandbox' as const }
  const { id } = await w.admin.createWebhook({ params, body: { url: receiver.url } })
  expect(await cli.json('webhooks', 'list', ...at)).toMatchObject([{ id, waiting: 0 }])
  const worker = await w.startDelivery()
  const running = cli.run('replay', '--webhook', id, '--from', '2020-01-01T00:00:00Z', ...at, '--json')
  let ended = false
  running.finally(() => {
    ended = true
  })
  while (!ended) await w.runJobs()
  const { code, out, err } = await running
  const { state, sent, done } = JSON.parse(out)
  expect([code, state, sent > 0 && sent <= done, err]).toEqual([0, 'done', true, expect.stringMatching(/^replayed \d+/)])
  expect(receiver.received).toHaveLength(sent)
  await worker.stop()
  expect(await cli.run('webhooks', 'list')).toMatchObject({ code: 2, err: expect.stringMatching(/^Pass --org and --team/) })
  expect((await cli.run('replay', '--webhook', newUuid(), '--from', '2020-01-01T00:00:00Z', ...at)).code).toBe(1)
})
