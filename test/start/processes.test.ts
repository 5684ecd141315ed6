import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { preparedDataDir } from '../support/data-dir.ts'
import { CONNECTION_POLL_MS, eventually, isAlive, postmasterOf, processesOf, TIMEOUT_MS } from '../support/process.ts'
import { listen } from '../support/sse.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import { clientsOf, databaseWithCatalog, externalDatabase, runFailingStart, start, startForFile, startInProcess } from './support/start.ts'

/** A service with two API processes and a worker. It recovers from what each test does to it. */
const env = externalDatabase(await databaseWithCatalog(), { PROCESSES: '2' })
const service = await startForFile(env)
const { credentials, api, admin } = clientsOf(service, env['DATA_DIR'] as string)

const pidsOf = async (kind: 'api' | 'worker') =>
  (await processesOf(service.pid)).flatMap((process) => (process.kind === kind ? [process.pid] : []))

/** Creates a user. Returns the status, or the code of the error if there is no response. */
const createUser = (agent: Agent, client_user_id: string) =>
  new Promise<string>((resolve) => {
    const headers = { 'x-service-api-key': credentials.team_api_key, 'content-type': 'application/json' }
    const sent = request(`${service.url}/v2/user`, { method: 'POST', agent, headers }, (response: IncomingMessage) => {
      response.resume().once('end', () => resolve(String(response.statusCode)))
    })
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end(JSON.stringify({ client_user_id }))
  })

const CLIENTS = 6
/** Leaves the processes that start some of the processor. */
const PAUSE_MS = 20

/** Clients that create users over connections that they reuse, until they are stopped. */
function startClients(prefix: string) {
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const outcomes = new Map<string, string>()
  let isStopped = false
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let n = 0; !isStopped; n++) {
      const name = `${prefix}-${client}-${n}`
      outcomes.set(name, await createUser(agent, name))
      await sleep(PAUSE_MS)
    }
  })
  return {
    outcomes,
    /** The names of the users that were acknowledged, and the other outcomes. */
    async stop() {
      isStopped = true
      await Promise.all(clients)
      const created = [...outcomes].flatMap(([name, outcome]) => (outcome === '200' ? [name] : []))
      return { created, failures: [...outcomes.values()].filter((outcome) => outcome !== '200') }
    },
  }
}

// Must run first, because a process that is replaced starts to count again.
test('metrics add up the processes', async () => {
  const receiver = await aReceiver()
  await aWebhook({ ...credentials, admin, api }, { url: receiver.url, filter_types: ['user.created'] })
  const agent = new Agent({ keepAlive: false })
  for (let n = 0; n < 10; n++) expect(await createUser(agent, `user-${n}`)).toBe('200')
  await receiver.has(10)

  // Each scrape has its own connection, so both API processes respond.
  for (let n = 0; n < 2; n++) {
    const text = await eventually(async () => {
      const text = await (await fetch(`${service.url}/metrics`, { headers: { connection: 'close' } })).text()
      return /assay_webhook_attempts_total\{outcome="delivered"\} 10\n/.test(text) ? text : undefined
    })
    const counts = [...text.matchAll(/assay_http_request_seconds_count\{[^}]*route="\/v2\/user"[^}]*\} (\d+)/g)]
    expect(counts.map(([, count]) => Number(count))).toEqual([10])
    expect(text.match(/^# TYPE assay_webhook_waiting /gm) ?? []).toHaveLength(1)
  }
})

test('the limit of event streams covers all processes', async () => {
  const open = async () => {
    const stream = await listen(`${service.url}/events/stream`, { 'x-service-api-key': credentials.team_api_key })
    onTestFinished(() => void stream.close())
    return stream
  }
  const streams = []
  for (let n = 0; n < 20; n++) streams.push(await open())
  expect(streams.map(({ status }) => status)).toEqual(Array(20).fill(200))
  expect((await open()).status).toBe(429)
  streams[0]?.close()
  await eventually(async () => (await open()).status === 200)
})

test('a killed API process is restarted, and no acknowledged request is lost', async () => {
  const before = await pidsOf('api')
  expect(before).toHaveLength(2)
  const clients = startClients('kept')
  await eventually(() => clients.outcomes.size > 50)
  process.kill(before[0] as number, 'SIGKILL')
  const isReplaced = async () => {
    const now = await pidsOf('api')
    return now.length === 2 && !now.includes(before[0] as number)
  }
  await eventually(isReplaced, TIMEOUT_MS, CONNECTION_POLL_MS)
  const known = clients.outcomes.size
  await eventually(() => clients.outcomes.size > known + 50)
  const { created, failures } = await clients.stop()
  expect(failures.length).toBeLessThanOrEqual(CLIENTS)
  for (const name of created) expect((await api.resolveUser({ params: { client_user_id: name } })).client_user_id).toBe(name)
})

test('a killed worker is restarted and delivers', async () => {
  const [worker] = await pidsOf('worker')
  process.kill(worker as number, 'SIGKILL')
  const receiver = await aReceiver()
  await aWebhook({ ...credentials, admin, api }, { url: receiver.url, filter_types: ['user.created'] })
  await api.createUser({ body: { client_user_id: 'delivered' } })
  await receiver.has(1)
  expect(await pidsOf('worker')).not.toContain(worker)
})

test('SIGUSR2 replaces every process under load without a failed request', async () => {
  const before = (await processesOf(service.pid)).map(({ pid }) => pid)
  const clients = startClients('rolling')
  await eventually(() => clients.outcomes.size > 20)
  service.child.kill('SIGUSR2')
  await service.waitForOutput(/rolling restart complete/)
  const known = clients.outcomes.size
  await eventually(() => clients.outcomes.size > known + 20)
  const { failures } = await clients.stop()
  expect(failures).toEqual([])
  const after = (await processesOf(service.pid)).map(({ pid }) => pid)
  expect(after).toHaveLength(3)
  expect(after.filter((pid) => before.includes(pid))).toEqual([])
})

// Must run after the others, because it does not wait for the replacement.
test('a connection that a killed process did not take is closed', async () => {
  const [stuck] = await pidsOf('api')
  // It is handed a connection and does not answer.
  process.kill(stuck as number, 'SIGSTOP')
  const agent = new Agent({ keepAlive: false })
  const outcomes: string[] = []
  const requests = ['a', 'b', 'c', 'd'].map(async (name) => outcomes.push(await createUser(agent, name)))
  await eventually(() => outcomes.length === 3)
  process.kill(stuck as number, 'SIGKILL')
  await Promise.all(requests)
  expect(outcomes).toEqual(['200', '200', '200', 'ECONNRESET'])
})

test('all processes and the database end with their supervisor, and the next start works', async () => {
  const DATA_DIR = await preparedDataDir()
  const service = await start({ DATA_DIR, PROCESSES: '2' })
  const pids = [postmasterOf(DATA_DIR), ...(await processesOf(service.pid)).map(({ pid }) => pid)]
  expect(pids).toHaveLength(4)
  await service.stop('SIGKILL')
  await eventually(() => !pids.some(isAlive))
  const next = await startInProcess({ DATA_DIR })
  expect((await fetch(`${next.url}/ready`)).status).toBe(200)
})

test('names a PORT in use, in one line', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  onTestFinished(() => void holder.close())
  const PORT = String((holder.address() as AddressInfo).port)
  expect(await runFailingStart(externalDatabase(await databaseWithCatalog(), { PORT, PROCESSES: '2' }))).toEqual({
    code: 1,
    lines: [expect.stringMatching(new RegExp(`^PORT ${PORT} on HOST 127.0.0.1 is not available: .*EADDRINUSE`))],
  })
})
