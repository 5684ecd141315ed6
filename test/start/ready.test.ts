import { expect, test } from 'vitest'
import { SECOND } from '../../src/platform/time.ts'
import { databaseName } from '../support/databases.ts'
import { aNewOrder } from '../support/orders.ts'
import { reservePort } from '../support/ports.ts'
import { eventually, readCredentials, type Service } from '../support/process.ts'
import { onEveryServer, query } from '../support/query.ts'
import { errorOf, newDatabase, newSandboxDatabase, world } from '../support/world.ts'
import { startProxy } from './support/proxy.ts'
import { adminOf, apiOf, clientsOf, databaseWithCatalog, externalDatabase, startInProcess } from './support/start.ts'

const statusOf = async ({ url }: Pick<Service, 'url'>, path: string) => (await fetch(url + path)).status

async function notReadyMessage({ url }: Pick<Service, 'url'>) {
  const response = await fetch(`${url}/ready`)
  expect(response.status).toBe(503)
  const { detail } = (await response.json()) as { detail: { error_type: string; error_message: string } }
  expect(detail.error_type).toBe('NOT_READY')
  return detail.error_message
}

test('says that the disk of the database is full, until there is space', async () => {
  const url = await databaseWithCatalog()
  const service = await startInProcess(externalDatabase(url))
  await query(
    url,
    `create function refuse_write() returns trigger language plpgsql as
       $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
     create trigger disk_full before insert or update on heartbeat for each row execute function refuse_write()`,
  )
  expect(await notReadyMessage(service)).toContain('its disk is full')
  expect(await statusOf(service, '/health')).toBe(200)
  await query(url, 'drop trigger disk_full on heartbeat')
  expect(await statusOf(service, '/ready')).toBe(200)
  await service.stop()
})

test('says that the disk is full while writes fail, although the heartbeat fits into its page', async () => {
  const { api, base, ...w } = await world({ database: await newSandboxDatabase() })
  w.stopTime()
  const service = { url: base }
  const noSpace = "raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'"
  await query(
    w.url,
    `create function refuse_row() returns trigger language plpgsql as $$ begin ${noSpace}; end $$;
     create function refuse_table() returns event_trigger language plpgsql as $$ begin ${noSpace}; end $$;
     create trigger disk_full before insert on users for each row execute function refuse_row();
     create event trigger disk_full on ddl_command_start when tag in ('CREATE TABLE AS') execute function refuse_table()`,
  )
  expect(await statusOf(service, '/ready')).toBe(200)
  expect(await errorOf(api.createUser({ body: { client_user_id: 'no-space' } }))).toMatchObject({
    status: 503,
    detail: { error_type: 'DATABASE_UNAVAILABLE' },
  })
  expect(await notReadyMessage(service)).toContain('its disk is full')
  await query(w.url, 'drop trigger disk_full on users')
  w.advanceTime(11 * SECOND)
  // No write has failed for a while, but there is no space for one that needs some.
  expect(await notReadyMessage(service)).toContain('its disk is full')
  await query(w.url, 'drop event trigger disk_full')
  expect(await statusOf(service, '/ready')).toBe(200)
  expect((await api.createUser({ body: { client_user_id: 'no-space' } })).client_user_id).toBe('no-space')
})

test('a write that found no space is reported for some seconds, although a small one would succeed', async () => {
  const { api, base, ...w } = await world({ database: await newSandboxDatabase() })
  w.stopTime()
  await query(
    w.url,
    `create function refuse_row() returns trigger language plpgsql as $$ begin raise exception 'full' using errcode = 'disk_full'; end $$;
     create trigger disk_full before insert on users for each row execute function refuse_row()`,
  )
  for (const seconds of [0, 9, 9]) {
    w.advanceTime(seconds * SECOND)
    expect((await errorOf(api.createUser({ body: { client_user_id: 'full' } }))).status).toBe(503)
    expect(await notReadyMessage({ url: base })).toContain('its disk is full')
  }
  w.advanceTime(11 * SECOND)
  expect(await statusOf({ url: base }, '/ready')).toBe(200)
})

test('reports an unavailable database, keeps running and is ready when it returns', async () => {
  const proxy = await startProxy(await databaseWithCatalog())
  const env = externalDatabase(proxy.url)
  const service = await startInProcess(env)
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
  await service.stop()
})

test('reports a database that accepts no writes as unavailable, until it does', async () => {
  const url = await databaseWithCatalog()
  const env = externalDatabase(url)
  const service = await startInProcess({ ...env, ROLE: 'api' })
  const { api } = clientsOf(service, env['DATA_DIR'] as string)
  const setReadOnly = (value: string) =>
    onEveryServer(
      url,
      `begin read write; alter database ${databaseName(url)} set default_transaction_read_only = ${value}; commit;
       select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and (application_name = 'assay' or application_name like 'citus_internal%')`,
    )

  const body = await aNewOrder(api)
  await setReadOnly('on')
  // More than the connections that ended, so that some requests get one on which the server refuses the write.
  const refusals = new Set<string>()
  for (let i = 0; i < 20; i++) {
    const { status, detail } = await errorOf(i % 2 ? api.createOrder({ body }) : api.createUser({ body: { client_user_id: 'standby' } }))
    refusals.add(`${status} ${detail['error_type']}`)
  }
  expect([...refusals]).toEqual(['503 DATABASE_UNAVAILABLE'])
  expect(await notReadyMessage(service)).toContain('does not accept writes')
  await setReadOnly('off')
  await eventually(() => api.createUser({ body: { client_user_id: 'standby' } }))
})

test('is not ready while the database does not respond', async () => {
  const proxy = await startProxy(await databaseWithCatalog())
  const service = await startInProcess(externalDatabase(proxy.url))
  expect(await statusOf(service, '/ready')).toBe(200)

  proxy.freeze()
  expect(await statusOf(service, '/ready')).toBe(503)
  expect(await statusOf(service, '/health')).toBe(200)
  proxy.thaw()
  await eventually(async () => (await statusOf(service, '/ready')) === 200)
})

test('stops while the database is unavailable', async () => {
  const proxy = await startProxy(await databaseWithCatalog())
  const service = await startInProcess(externalDatabase(proxy.url))
  proxy.close()
  await service.stop()
})

test('/ready means that the keys are saved and work', async () => {
  const port = await reservePort()
  const env = externalDatabase(await newDatabase(), { PORT: String(port) })
  const url = `http://127.0.0.1:${port}`
  const started = startInProcess(env)
  const statuses: number[] = []
  await eventually(async () => statuses.push((await fetch(`${url}/ready`)).status) && statuses.at(-1) === 200)
  const kept = readCredentials(env['DATA_DIR'] as string)
  expect((await apiOf({ url }, kept).listUsers()).total).toBe(0)
  expect((await adminOf({ url }, kept).getOrg({ params: kept })).id).toBe(kept.org_id)
  expect(statuses.slice(0, -1).filter((status) => status !== 503)).toEqual([])
  await started
})
