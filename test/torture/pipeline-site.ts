import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'amqplib'
import { pino } from 'pino'
import { createClient } from '../../src/contract/client.ts'
import { startEmbedded } from '../../src/platform/db/embedded/start.ts'
import { aQueue, startBroker } from '../support/broker.ts'
import { query } from '../support/databases.ts'
import { aNewOrder } from '../support/orders.ts'
import { deploymentOf } from '../support/pipelines.ts'
import { eventually, postmasterOf, readCredentials, type Service, startProcess } from '../support/process.ts'
import { aUser } from '../support/users.ts'

export type Site = Awaited<ReturnType<typeof openSite>>

const QUEUE = 'torture'

/** Two processes on one PostgreSQL, a broker, and a consumer of its queue. */
export async function openSite(log?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-torture-'))
  const [server, broker] = await Promise.all([
    startEmbedded({ dataDir: join(folder, 'server'), log: pino({ level: 'silent' }) }),
    startBroker(),
  ])
  const dataDir = join(folder, 'data')
  const env = { DATA_DIR: dataDir, DATABASE_URL: server.url, ENCRYPTION_KEY: 'torture-0123456789abcdef0123456789abcdef' }
  const start = () => startProcess(env, log)
  const services: Service[] = await Promise.all([start(), start()])
  const credentials = readCredentials(dataDir)
  await (await aQueue(broker.uri, { name: QUEUE })).close()
  const admin = createClient((services[0] as Service).url, { 'x-management-key': credentials.management_key })
  await admin.upsertPipelines({
    params: deploymentOf(credentials),
    body: { team_ids: [credentials.team_id], rabbitmq: broker.destination },
  })
  const reader = readQueue(broker.uri)
  return {
    url: server.url,
    broker,
    services,
    reader,
    credentials,
    start,
    killPostgres: () => process.kill(postmasterOf(join(folder, 'server')), 'SIGKILL'),
    /** The process that publishes. */
    async leader() {
      const [log] = await query<{ owner: string | null }>(server.url, 'select owner from event_logs where owner is not null')
      return services.findIndex(({ output }) => log?.owner && output.stdout.includes(log.owner))
    },
    async close() {
      await reader.stop()
      for (const service of services) service.child.kill('SIGKILL')
      await Promise.all(services.map((service) => service.exited))
      await broker.stop()
      await server.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Consumes until stopped and reconnects to a killed broker. */
function readQueue(uri: string) {
  const received: string[] = []
  let stopping = false
  let end = () => {}
  const read = async () => {
    const connection = await connect(uri)
    const closed = new Promise<void>((done) => connection.once('close', () => done()).on('error', () => {}))
    end = () => void connection.close().catch(() => {})
    const channel = await connection.createChannel()
    channel.on('error', () => {})
    await channel.consume(QUEUE, (message) => {
      if (!message) return
      received.push(String(message.properties.messageId))
      channel.ack(message)
    })
    await closed
  }
  const reading = (async () => {
    while (!stopping) {
      await read().catch(() => {})
      await sleep(50)
    }
  })()
  return {
    received,
    async stop() {
      stopping = true
      end()
      await reading
    },
  }
}

const WRITERS = 4

/** Places and cancels orders through either process. */
export async function startClients({ services, credentials }: Pick<Site, 'services' | 'credentials'>) {
  const apis = () => services.map(({ url }) => createClient(url, { 'x-service-api-key': credentials.team_api_key }))
  const body = await eventually(() => aNewOrder(apis()[0] as ReturnType<typeof createClient>))
  const user_id = await eventually(() => aUser(apis()[0] as ReturnType<typeof createClient>))
  let stopping = false
  let placed = 0
  const write = async (writer: number) => {
    for (let n = writer; !stopping; n++) {
      const api = apis()[n % 2] as ReturnType<typeof createClient>
      try {
        const { order } = await api.createOrder({ body: { ...body, user_id } })
        placed++
        await api.cancelOrder({ params: { order_id: order.id } })
      } catch {
        // A request without a response may or may not have committed; the log shows which.
        await sleep(20)
      }
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  return {
    placed: () => placed,
    async stop() {
      stopping = true
      await writing
    },
  }
}
