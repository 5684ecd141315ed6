import { expect, test } from 'vitest'
import { eventually, readCredentials, TIMEOUT_MS } from '../support/process.ts'
import { directUrl, query } from '../support/query.ts'
import { emptyDatabase, errorOf, newDataDir } from '../support/world.ts'
import { apiOf, clientsOf, databaseWithCatalog, externalDatabase, oneProcess, start, startInProcess } from './support/start.ts'

test('two replicas started at once on an empty database share it and read the users of the other', async () => {
  const url = await emptyDatabase()
  const folders = [newDataDir(), newDataDir()] as const
  const [one, two] = await Promise.all([
    start(externalDatabase(url, { ...oneProcess, DATA_DIR: folders[0] })),
    startInProcess(externalDatabase(url, { DATA_DIR: folders[1] })),
  ])
  const [a, b] = [clientsOf(one, folders[0]), clientsOf(two, folders[1])]

  expect(a.credentials.team_id).toBe(b.credentials.team_id)
  expect((await query(url, 'select 1 from orgs')).length).toBe(1)
  const user = await a.api.createUser({ body: { client_user_id: 'shared', fallback_birth_date: '1987-12-05' } })
  expect(await b.api.resolveUser({ params: { client_user_id: 'shared' } })).toEqual(user)
  const other = await b.api.createUser({ body: { client_user_id: 'other', fallback_birth_date: '2001-02-28' } })
  expect(await a.api.getUser({ params: { user_id: other.user_id } })).toEqual(other)
  expect((await apiOf(two, a.credentials).listUsers()).total).toBe(2)
})

test('replicas can share one DATA_DIR', async () => {
  const env = externalDatabase(await databaseWithCatalog())
  const services = await Promise.all([startInProcess(env), startInProcess(env)])
  const { team_api_key } = readCredentials(env['DATA_DIR'] as string)
  for (const service of services) expect((await apiOf(service, { team_api_key }).listUsers()).total).toBe(0)
})

test('ROLE=api serves requests without chaining the audit log, and ROLE=worker does the reverse', async () => {
  const url = await databaseWithCatalog()
  const env = externalDatabase(url)
  const api = await startInProcess({ ...env, ROLE: 'api' })
  const { credentials, api: calls } = clientsOf(api, env['DATA_DIR'] as string)
  await calls.createUser({ body: { client_user_id: 'one' } })
  expect(await query(url, 'select seq from audit_chains')).toEqual([{ seq: 0 }])

  const worker = await startInProcess({ ...env, ROLE: 'worker' })
  await expect
    .poll(async () => (await query<{ seq: number }>(url, 'select max(seq) as seq from audit_chains'))[0]?.seq, { timeout: TIMEOUT_MS })
    .not.toBe(0)
  for (const page of ['/health', '/ready', '/metrics']) expect((await fetch(worker.url + page)).status).toBe(200)
  const refused = await errorOf(apiOf(worker, credentials).listUsers())
  expect(refused).toMatchObject({ status: 404, detail: { error_type: 'UNKNOWN_PATH' } })
  // They share DATA_DIR, whose URL is that of the API.
  expect(clientsOf(api, env['DATA_DIR'] as string).credentials).toEqual(credentials)
})

test('a process that delivers listens on DIRECT_DATABASE_URL, and polls without it', async () => {
  const url = await databaseWithCatalog()
  const listening = () =>
    query(url, `select from pg_stat_activity where datname = current_database() and query = 'listen "assay team log"'`)
  await startInProcess(externalDatabase(url, { ROLE: 'worker' }))
  await startInProcess(externalDatabase(url, { ROLE: 'api', DIRECT_DATABASE_URL: directUrl(url) }))
  expect(await listening()).toEqual([])
  await startInProcess(externalDatabase(url, { ROLE: 'worker', DIRECT_DATABASE_URL: directUrl(url) }))
  await eventually(async () => (await listening()).length === 1)
})

test('serves health, metrics and documentation without a key', async () => {
  const { url } = await startInProcess(externalDatabase(await databaseWithCatalog()))
  const page = async (path: string) => {
    const response = await fetch(url + path)
    return { status: response.status, type: response.headers.get('content-type')?.split(';')[0], text: await response.text() }
  }
  expect(await page('/health')).toMatchObject({ status: 200, type: 'application/json', text: expect.stringContaining('ok') })
  expect(await page('/ready')).toMatchObject({ status: 200, type: 'application/json' })
  expect(await page('/metrics')).toMatchObject({
    status: 200,
    type: 'text/plain',
    text: expect.stringContaining('assay_http_request_seconds'),
  })
  expect(JSON.parse((await page('/openapi.json')).text)).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
  expect(await page('/docs')).toMatchObject({ status: 200, type: 'text/html' })
})
