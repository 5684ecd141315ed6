import { expect, onTestFinished, test } from 'vitest'
import { reservePort } from '../support/ports.ts'
import { eventually, readCredentials, runMain, type Service } from '../support/process.ts'
import { errorOf, newDatabase } from '../support/world.ts'
import { startProxy } from './support/proxy.ts'
import { adminOf, apiOf, clientsOf, newDataDir, outside, start } from './support/start.ts'

const statusOf = async ({ url }: Service, path: string) => (await fetch(url + path)).status

test('while the database is away the service says so, lives on, and is ready when it returns', async () => {
  const proxy = await startProxy(await newDatabase())
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
  expect(await errorOf(api.createUser({ body: { client_user_id: 'away' } }))).toMatchObject({
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
  const proxy = await startProxy(await newDatabase())
  const service = await start(outside(proxy.url))
  expect(await statusOf(service, '/ready')).toBe(200)

  proxy.freeze()
  expect(await statusOf(service, '/ready')).toBe(503)
  expect(await statusOf(service, '/health')).toBe(200)
  proxy.thaw()
  await eventually(async () => (await statusOf(service, '/ready')) === 200)
})

test('the service can be stopped while its database is away', async () => {
  const proxy = await startProxy(await newDatabase())
  const service = await start(outside(proxy.url))
  proxy.close()
  expect((await service.stop()).code).toBe(0)
})

test.each([
  ['its own database', async () => ({ DATA_DIR: newDataDir() })],
  ['a database outside', async () => outside(await newDatabase())],
])('from its first answer on with %s, ready means that the keys are kept and work', async (_, settings) => {
  const env = await settings()
  const port = await reservePort()
  const url = `http://127.0.0.1:${port}`
  const running = runMain({ ...env, PORT: String(port) })
  onTestFinished(async () => {
    running.child.kill('SIGTERM')
    await running.exited
  })
  const answers: number[] = []
  await eventually(async () => answers.push((await fetch(`${url}/ready`)).status) && answers.at(-1) === 200)
  const kept = readCredentials(env['DATA_DIR'] as string)
  const service = { url } as Service
  expect((await apiOf(service, kept).listUsers()).total).toBe(0)
  expect((await adminOf(service, kept).getOrg({ params: kept })).id).toBe(kept.org_id)
  expect(answers.slice(0, -1).filter((status) => status !== 503)).toEqual([])
})
