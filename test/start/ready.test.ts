import { expect, test, vi } from 'vitest'
import { eventually, type Service } from '../support/process.ts'
import { newDatabase, refusal } from '../support/world.ts'
import { proxyTo } from './support/proxy.ts'
import { clientsOf, outside, start } from './support/start.ts'

vi.setConfig({ testTimeout: 120_000 })

const statusOf = async ({ url }: Service, path: string) => (await fetch(url + path)).status

test('while the database is away the service says so, lives on, and is ready when it returns', async () => {
  const proxy = await proxyTo(await newDatabase())
  const env = outside(proxy.url)
  const service = await start(env)
  const { api } = clientsOf(service, env['DATA_DIR'] as string)
  expect(await statusOf(service, '/ready')).toBe(200)

  proxy.close()
  const ready = await fetch(`${service.url}/ready`)
  expect({ status: ready.status, body: await ready.json() }).toEqual({
    status: 503,
    body: { detail: expect.objectContaining({ error_type: 'NOT_READY' }) },
  })
  expect(await refusal(api.createUser({ body: { client_user_id: 'away' } }))).toMatchObject({
    status: 503,
    detail: { error_type: 'DATABASE_UNAVAILABLE' },
  })
  for (const path of ['/health', '/metrics', '/openapi.json']) expect(await statusOf(service, path)).toBe(200)

  await proxy.open()
  await eventually(async () => (await statusOf(service, '/ready')) === 200)
  expect((await api.createUser({ body: { client_user_id: 'away' } })).client_user_id).toBe('away')
  expect((await service.stop()).code).toBe(0)
})

test('a database that is connected and silent is not ready either', async () => {
  const proxy = await proxyTo(await newDatabase())
  const service = await start(outside(proxy.url))
  expect(await statusOf(service, '/ready')).toBe(200)

  proxy.freeze()
  expect(await statusOf(service, '/ready')).toBe(503)
  expect(await statusOf(service, '/health')).toBe(200)
  proxy.thaw()
  await eventually(async () => (await statusOf(service, '/ready')) === 200)
})

test('the service can be stopped while its database is away', async () => {
  const proxy = await proxyTo(await newDatabase())
  const service = await start(outside(proxy.url))
  proxy.close()
  expect((await service.stop()).code).toBe(0)
})
