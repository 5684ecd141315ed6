import { expect, onTestFinished, test } from 'vitest'
import { reservePort } from '../support/ports.ts'
import { eventually, readCredentials, runMain, type Service } from '../support/process.ts'
import { errorOf, newDatabase } from '../support/world.ts'
import { startProxy } from './support/proxy.ts'
import { adminOf, apiOf, clientsOf, externalDatabase, newDataDir, start } from './support/start.ts'

const statusOf = async ({ url }: Service, path: string) => (await fetch(url + path)).status

test('reports an unavailable database, keeps running and is ready when it returns', async () => {
  const proxy = await startProxy(await newDatabase())
  const env = externalDatabase(proxy.url)
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

test('is not ready while the database does not respond', async () => {
  const proxy = await startProxy(await newDatabase())
  const service = await start(externalDatabase(proxy.url))
  expect(await statusOf(service, '/ready')).toBe(200)

  proxy.freeze()
  expect(await statusOf(service, '/ready')).toBe(503)
  expect(await statusOf(service, '/health')).toBe(200)
  proxy.thaw()
  await eventually(async () => (await statusOf(service, '/ready')) === 200)
})

test('stops while the database is unavailable', async () => {
  const proxy = await startProxy(await newDatabase())
  const service = await start(externalDatabase(proxy.url))
  proxy.close()
  expect((await service.stop()).code).toBe(0)
})

test.each([
  ['the embedded database', async () => ({ DATA_DIR: newDataDir() })],
  ['an external database', async () => externalDatabase(await newDatabase())],
])('/ready with %s means that the keys are saved and work', async (_, settings) => {
  const env = await settings()
  const port = await reservePort()
  const url = `http://127.0.0.1:${port}`
  const running = runMain({ ...env, PORT: String(port) })
  onTestFinished(async () => {
    running.child.kill('SIGTERM')
    await running.exited
  })
  const statuses: number[] = []
  await eventually(async () => statuses.push((await fetch(`${url}/ready`)).status) && statuses.at(-1) === 200)
  const kept = readCredentials(env['DATA_DIR'] as string)
  const service = { url } as Service
  expect((await apiOf(service, kept).listUsers()).total).toBe(0)
  expect((await adminOf(service, kept).getOrg({ params: kept })).id).toBe(kept.org_id)
  expect(statuses.slice(0, -1).filter((status) => status !== 503)).toEqual([])
})
