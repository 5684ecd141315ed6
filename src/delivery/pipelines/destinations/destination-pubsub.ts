import { Pool } from 'undici'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import { SECOND } from '../../../platform/time.ts'
import { isProjectAllowed, type PubSub } from '../rules.ts'
import { type Failure, failureOfStatus } from '../rules-failure.ts'
import type { Destination, OutboundOptions } from './destination.ts'
import type { Message } from './message.ts'

const CONNECT_TIMEOUT_MS = 10 * SECOND
const CONFIRM_TIMEOUT_MS = 30 * SECOND
/** Each event is one request, so this is the number in flight. Idle connections close on their own. */
const CONNECTIONS = 24
/** Limits the response, which is a message ID or an error. */
const MAX_RESPONSE_BYTES = 64 * 1024

/** A Google Cloud Pub/Sub topic over its REST API. Each event is one request, confirmed when Pub/Sub has stored it. */
export async function openPubSub(topic: PubSub, { pubsub, ca }: OutboundOptions, signal?: AbortSignal): Promise<Destination> {
  const { endpoint, projects, tokens } = pubsub
  // The operator may have removed the project since the topic was accepted.
  if (!isProjectAllowed(topic.project, projects)) throw errorWithCode('project_refused' satisfies Failure)
  // Only the emulator uses plain HTTP, and it needs no token.
  const isSecure = endpoint.startsWith('https:')
  if (isSecure) await tokens.current(signal)
  const poster = newPoster(endpoint, pathOf(topic), ca)
  let isOpen = true

  async function publish(message: Message) {
    const body = bodyOf(message, topic)
    const token = isSecure ? await tokens.current(signal) : undefined
    const status = await poster.send(body, token)
    const final = status === 401 && token ? await poster.send(body, await tokens.renew(token, signal)) : status
    const failure = failureOfStatus(final)
    if (failure) throw errorWithCode(failure)
  }

  async function close() {
    isOpen = false
    await poster.close()
  }

  return { isOpen: () => isOpen, publish, close }
}

const pathOf = ({ project, topic }: PubSub) => `/v1/projects/${encodeURIComponent(project)}/topics/${encodeURIComponent(topic)}:publish`

/** Pub/Sub delivers messages with the same ordering key in the order they were published. */
function bodyOf({ event_id, event_type, key, content, content_type, gzipped }: Message, { message_ordering }: PubSub) {
  const attributes = { event_id, event_type, 'Content-Type': content_type, ...(gzipped && { 'Content-Encoding': 'gzip' }) }
  const message = { data: content.toString('base64'), attributes, ...(message_ordering && { orderingKey: key }) }
  return JSON.stringify({ messages: [message] })
}

/** Sends a request and returns its status. A success without a message ID is not a Pub/Sub response. */
function newPoster(endpoint: string, path: string, ca: string | undefined) {
  const pool = new Pool(endpoint, {
    connections: CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    connect: { timeout: CONNECT_TIMEOUT_MS, minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca && { ca }) },
    // Connections are renewed after this long to pick up DNS changes.
    clientTtl: 300 * SECOND,
  })

  async function send(body: string, token: string | undefined) {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Assay-Pipelines/1',
      ...(token && { authorization: `Bearer ${token}` }),
    }
    const timeout = AbortSignal.timeout(CONFIRM_TIMEOUT_MS)
    try {
      const response = await pool.request({ method: 'POST', path, headers, body, signal: timeout })
      const text = await textOf(response.body)
      if (response.statusCode === 200 && !isConfirmation(text)) throw errorWithCode('protocol' satisfies Failure)
      return response.statusCode
    } catch (error) {
      throw timeout.aborted ? errorWithCode('timeout' satisfies Failure) : error
    }
  }

  return { send, close: () => pool.destroy() }
}

async function textOf(body: AsyncIterable<Buffer>) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES) throw errorWithCode('protocol' satisfies Failure)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function isConfirmation(text: string) {
  try {
    const { messageIds } = JSON.parse(text) as { messageIds?: unknown }
    return Array.isArray(messageIds) && messageIds.length === 1
  } catch {
    return false
  }
}
