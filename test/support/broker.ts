import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Channel, type ConsumeMessage, connect } from 'amqplib'
import { reservePorts } from './ports.ts'
import { eventually, isAlive } from './process.ts'
import { newUuid } from './seeded.ts'

/** The script itself, because the one on the PATH of Debian switches to another user. */
const serverPaths = ['/usr/lib/rabbitmq/bin/rabbitmq-server', '/opt/homebrew/sbin/rabbitmq-server', '/usr/local/sbin/rabbitmq-server']

export const rabbitmq = serverPaths.find(existsSync)

/** The name of the broker in test titles, with the skip reason if it is missing. */
export const withBroker = rabbitmq ? 'RabbitMQ' : 'RabbitMQ (skipped: no rabbitmq-server)'

export type Broker = Awaited<ReturnType<typeof startBroker>>

const USER = 'assay'
const PASSWORD = 'broker-secret-4711'

/** Starts a broker on free ports in a new folder. With a certificate it also accepts amqps. */
export async function startBroker(certificate?: { cert: string; key: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-broker-'))
  const [port, tlsPort, distPort, epmdPort] = (await reservePorts(4)) as [number, number, number, number]
  writeFileSync(join(folder, 'plugins'), '[].')
  writeFileSync(join(folder, 'rabbit.conf'), configuration(folder, port, tlsPort, certificate))
  mkdirSync(join(folder, 'home'))
  const env = {
    PATH: process.env['PATH'],
    HOME: join(folder, 'home'),
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `assay-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbit.conf'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    // Makes the script exec the broker, so that killing the child kills the broker.
    RABBITMQ_ALLOW_INPUT: 'true',
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-noinput -noshell +S 1:1 +sbwt none',
  }
  const uri = uriOf('amqp', port)
  let broker: ChildProcess | undefined
  let epmd: ChildProcess | undefined

  async function start() {
    epmd ??= spawn('epmd', [], { env, stdio: 'ignore' })
    const child = spawn(rabbitmq as string, [], { env, stdio: 'ignore' })
    broker = child
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`The broker exited with ${child.exitCode}`)
      const connection = await connect(uri)
      await connection.close()
      return true
    })
  }

  async function kill() {
    const pid = broker?.pid as number
    broker?.kill('SIGKILL')
    await eventually(() => !isAlive(pid))
  }

  await start()
  return {
    uri,
    port,
    tlsPort,
    /** The destination of a pipeline. */
    destination: { uri, exchange: 'events' },
    uriFor: (user: string, password: string) => `amqp://${user}:${password}@127.0.0.1:${port}`,
    tlsUri: uriOf('amqps', tlsPort),
    start,
    /** Kills the broker with SIGKILL. */
    kill,
    async stop() {
      await kill()
      epmd?.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const uriOf = (scheme: string, port: number) => `${scheme}://${USER}:${PASSWORD}@127.0.0.1:${port}`

function configuration(folder: string, port: number, tlsPort: number, certificate?: { cert: string; key: string }) {
  const lines = [`listeners.tcp.1 = 127.0.0.1:${port}`, `default_user = ${USER}`, `default_pass = ${PASSWORD}`]
  if (!certificate) return lines.join('\n')
  for (const [name, text] of Object.entries(certificate)) writeFileSync(join(folder, name), text)
  const tls = [`listeners.ssl.1 = 127.0.0.1:${tlsPort}`, `ssl_options.certfile = ${join(folder, 'cert')}`]
  return [...lines, ...tls, `ssl_options.keyfile = ${join(folder, 'key')}`, 'ssl_options.verify = verify_none'].join('\n')
}

/** Starts a proxy to the broker whose connections can be cut. */
export async function startProxy(port: number) {
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = createConnection(port, '127.0.0.1')
    for (const [source, target] of [[near, far] as const, [far, near] as const]) {
      open.add(source)
      source.on('error', () => {}).on('close', () => target.destroy())
      source.pipe(target)
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const cut = () => {
    for (const socket of open) socket.destroy()
    open.clear()
  }
  const { port: near } = server.address() as { port: number }
  return {
    port: near,
    uri: uriOf('amqp', near),
    cut,
    close: () => {
      cut()
      server.close()
    },
  }
}

type EventBody = { event_id: string; event_type: string; user_id: string | null; data: Record<string, unknown> }

export const bodyOf = ({ content, properties }: ConsumeMessage) =>
  JSON.parse((properties.contentEncoding === 'gzip' ? gunzipSync(content) : content).toString()) as EventBody

/** A durable queue on a durable topic exchange, and the messages consumed from it. */
export async function aQueue(
  uri: string,
  { exchange = 'events', pattern = '#', ...queue }: { exchange?: string; pattern?: string } & Queue = {},
) {
  const received: ConsumeMessage[] = []
  const { name, channel, close } = await openQueue(uri, exchange, pattern, queue)
  const listen = (on: Channel) =>
    on.consume(name, (message) => {
      if (!message) return
      received.push(message)
      on.ack(message)
    })
  return {
    name,
    channel,
    received,
    listen: () => listen(channel),
    events: () => received.map(bodyOf),
    ids: () => received.map(({ properties }) => String(properties.messageId)),
    close,
  }
}

type Queue = { name?: string; arguments?: Record<string, unknown> }

async function openQueue(uri: string, exchange: string, pattern: string, { name = '', arguments: args }: Queue) {
  const connection = await connect(uri)
  // Tests kill the broker.
  connection.on('error', () => {})
  const channel = await connection.createChannel()
  channel.on('error', () => {})
  await channel.assertExchange(exchange, 'topic', { durable: true })
  const { queue } = await channel.assertQueue(name || `queue-${newUuid()}`, {
    durable: true,
    arguments: args,
  })
  await channel.bindQueue(queue, exchange, pattern)
  return { name: queue, channel, close: () => connection.close().catch(() => {}) }
}
