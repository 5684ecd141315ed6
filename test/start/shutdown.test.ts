import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { skipUnless } from '../db/support/embedded.ts'
import { preparedDataDir } from '../support/data-dir.ts'
import { eventually, isAlive, type ProcessResult, postmasterOf, run, runMain, type Service, startProcess } from '../support/process.ts'
import { asTest, query } from '../support/query.ts'
import { citusServers, newDataDir, temporaryFolder } from '../support/world.ts'
import { clientsOf, databaseWithCatalog, externalDatabase, start, startInProcess } from './support/start.ts'

/** Holds a row lock, so that a change of the user waits. */
async function holdUser(url: string, user_id: string) {
  const holder = new pg.Client(asTest(url))
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin')
  const [{ team_id } = {}] = await query<{ team_id: string }>(url, 'select team_id from users where user_id = $1', [user_id])
  await holder.query('select 1 from users where team_id = $1 and user_id = $2 for update', [team_id, user_id])
  const blocked = citusServers().length
    ? 'select from citus_lock_waits where blocking_gpid = citus_backend_gpid()'
    : 'select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))'
  return {
    /** Only for this lock: the jobs of a service that has just started also wait for locks. */
    isAwaited: async () => ((await holder.query(blocked)).rowCount as number) > 0,
    release: () => holder.query('commit'),
  }
}

async function refusesConnections({ url }: Pick<Service, 'url'>) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const outcome = await once(socket, 'connect').then(
    () => 'open',
    (error) => error.code,
  )
  socket.destroy()
  return outcome === 'ECONNREFUSED'
}

let stalled: Promise<ProcessResult>

// The service waits ten seconds for the request. The other tests run in that time.
beforeAll(() => {
  stalled = stopWithStalledRequest()
})

async function stopWithStalledRequest() {
  const env = externalDatabase(await databaseWithCatalog())
  const service = await startProcess(env)
  const { credentials } = clientsOf(service, env['DATA_DIR'] as string)
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  const head = [
    'POST /v2/user HTTP/1.1',
    'Host: localhost',
    `x-service-api-key: ${credentials.team_api_key}`,
    'Content-Type: application/json',
  ]
  socket.write(`${[...head, 'Content-Length: 100', 'Expect: 100-continue'].join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  socket.write('{"client_user_id":"ha')
  return service.stop()
}

/** Opens a connection that stays idle after one request. */
async function openIdleConnection({ url }: Service) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n')
  await once(socket, 'data')
}

test.for(['SIGTERM', 'SIGINT'] as const)('%s stops accepting requests, finishes those in flight and exits with 0', async (signal) => {
  const database = await databaseWithCatalog()
  const env = externalDatabase(database)
  const service = await start(env)
  const { api, credentials } = clientsOf(service, env['DATA_DIR'] as string)
  const { user_id } = await api.createUser({ body: { client_user_id: 'slow' } })
  const { isAwaited, release } = await holdUser(database, user_id)
  await openIdleConnection(service)

  let hasResponse = false
  const headers = { 'x-service-api-key': credentials.team_api_key }
  const patch = sendRequest(service.url, endpoints.patchUser, { params: { user_id }, body: { client_user_id: 'patched' }, headers })
  void patch.finally(() => {
    hasResponse = true
  })
  await eventually(isAwaited)
  service.child.kill(signal)
  await eventually(() => refusesConnections(service))
  service.child.kill(signal)
  expect(hasResponse).toBe(false)
  await release()
  const releasedAt = performance.now()

  expect((await patch).status).toBe(204)
  const result = await service.exited
  expect(result).toMatchObject({ code: 0, signal: null, stderr: '' })
  console.log(`${signal}: exited ${Math.round(performance.now() - releasedAt)} ms after its last request was released`)
  expect(await query(database, 'select client_user_id from users')).toEqual([{ client_user_id: 'patched' }])
  expect(await query(database, 'select last_used_at is not null as used from team_api_keys')).toEqual([{ used: true }])
})

test('SIGTERM or SIGINT during the first start ends it immediately, and the next start works', async () => {
  const DATA_DIR = newDataDir()
  const partialClusters = () => globSync(join(DATA_DIR, 'postgres.new-*/*')).map(dirname)
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const before = partialClusters()
    const running = runMain({ DATA_DIR })
    await eventually(() => partialClusters().find((folder) => !before.includes(folder)))
    running.child.kill(signal)
    expect(await running.exited).toMatchObject({ code, signal: null, stderr: '' })
  }

  const { url } = await startInProcess({ DATA_DIR })
  expect((await fetch(`${url}/ready`)).status).toBe(200)
})

test('a stalled request does not block the shutdown forever', async () => {
  expect(await stalled).toMatchObject({ code: 0, signal: null, stderr: '' })
})

test('SIGTERM to npm start ends the service', async (context) => {
  const project = resolve(import.meta.dirname, '../..')
  const env = { DATA_DIR: await preparedDataDir(), HOME: temporaryFolder() }
  const npm = await run(['sh', '-c', 'command -v npm'], { env }).exited
  skipUnless(context, npm.code === 0, 'npm is not on the path')
  // Skips prestart, which would reinstall the packages that this run uses.
  const running = run([npm.stdout.trim(), '--prefix', project, '--ignore-scripts', 'start'], { env })
  const [, url = ''] = await running.waitForOutput(/Assay is ready at (\S+)/)
  const { pid } = JSON.parse(readFileSync(join(env.DATA_DIR, 'postgres.lock'), 'utf8'))
  const postmaster = postmasterOf(env.DATA_DIR)
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGTERM')
  })
  expect([isAlive(pid), pid === running.pid]).toEqual([true, false])

  running.child.kill('SIGTERM')
  await running.exited
  await eventually(() => !isAlive(pid) && !isAlive(postmaster))
  expect(await refusesConnections({ url })).toBe(true)
})
