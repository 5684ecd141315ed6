import { type ChildProcess, spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { findTool } from '../docs/support/tools.ts'
import { reservePort } from './ports.ts'
import { eventually, isAlive } from './process.ts'
import { newUuid } from './seeded.ts'

const sdkFolders = ['/usr/lib', '/opt/homebrew/share', '/usr/local/share', process.env['HOME'] ?? '/root']
const [jar] = globSync(
  sdkFolders.map((folder) => `${folder}/google-cloud-sdk/platform/pubsub-emulator/lib/cloud-pubsub-emulator-*-all.jar`),
)
const [java] = findTool('java')

export const emulator = jar && java ? { jar, java: java[1] } : undefined

/** The name of the emulator in test titles, with the skip reason if it is missing. */
export const withEmulator = emulator ? 'Pub/Sub' : 'Pub/Sub (skipped: no emulator)'

export type Emulator = Awaited<ReturnType<typeof startEmulator>>

/** Starts an emulator on a free port. It keeps its topics in memory only. */
export async function startEmulator() {
  const { jar, java } = emulator as NonNullable<typeof emulator>
  const port = await reservePort()
  const endpoint = `http://127.0.0.1:${port}`
  // Starts java itself and not its wrapper script, so that killing the child kills the emulator.
  const args = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx256m', '-jar', jar, '--host=127.0.0.1', `--port=${port}`]
  let child: ChildProcess | undefined

  async function start() {
    const started = spawn(java, args, { stdio: 'ignore' })
    child = started
    await eventually(async () => {
      if (started.exitCode !== null) throw new Error(`The emulator exited with ${started.exitCode}`)
      return (await fetch(endpoint)).ok
    })
  }

  /** Kills the emulator with SIGKILL. */
  async function kill() {
    const pid = child?.pid as number
    child?.kill('SIGKILL')
    await eventually(() => !isAlive(pid))
  }

  await start()
  return { endpoint, start, kill }
}

type Topic = { project: string; topic: string }
type Pulled = { data: string; attributes: Record<string, string>; orderingKey?: string; messageId: string }
type EventBody = { event_id: string; event_type: string; user_id: string | null; data: Record<string, unknown> }

export const eventIn = ({ data, attributes }: Pulled) => {
  const content = Buffer.from(data, 'base64')
  return JSON.parse((attributes['Content-Encoding'] === 'gzip' ? gunzipSync(content) : content).toString()) as EventBody
}

/** A topic with a subscription, and the messages pulled from it. */
export async function aSubscription({ endpoint }: Pick<Emulator, 'endpoint'>, { project, topic }: Topic, { ordered = false } = {}) {
  const call = async (method: string, path: string, body: object = {}) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${endpoint}/v1/projects/${project}/${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { receivedMessages?: { ackId: string; message: Pulled }[] }
  }
  const subscription = `subscriptions/s-${newUuid()}`
  await call('PUT', `topics/${encodeURIComponent(topic)}`)
  await call('PUT', subscription, { topic: `projects/${project}/topics/${topic}`, enableMessageOrdering: ordered, ackDeadlineSeconds: 60 })
  const received: Pulled[] = []

  /** Pulls the available messages and returns all messages so far. */
  async function pull() {
    for (;;) {
      const { receivedMessages = [] } = await call('POST', `${subscription}:pull`, { maxMessages: 500, returnImmediately: true })
      if (!receivedMessages.length) return received
      received.push(...receivedMessages.map(({ message }) => message))
      await call('POST', `${subscription}:acknowledge`, { ackIds: receivedMessages.map(({ ackId }) => ackId) })
    }
  }
  return { pull, received, ids: async () => (await pull()).map(({ attributes }) => attributes['event_id'] as string) }
}
