import { Pool } from 'undici'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import { SECOND } from '../../../platform/time.ts'
import { isProjectOpen, type PubSub } from '../rules.ts'
import { type Failure, failureOfStatus } from '../rules-failure.ts'
import type { Destination, OutboundOptions } from './destination.ts'
import type { Message } from './message.ts'

const CONNECT_WITHIN = 10 * SECOND
const CONFIRM_WITHIN = 30 * SECOND
/** Each event is one request, so this is the number in flight. Idle connections close on their own. */
const CONNECTIONS = 24
/** Limits the response, which is a message id or an error. */
const MAX_ANSWER = 64 * 1024

/** A Google Cloud Pub/Sub topic over its REST API. Each event is one request, confirmed when Pub/Sub has stored it. */
export async function openPubSub(topic: PubSub, { pubsub, ca }: OutboundOptions, ends?: AbortSignal): Promise<Destination> {
  const { endpoint, projects, tokens } = pubsub
  // The operator may have removed the project since the topic was accepted.
  if (!isProjectOpen(topic.project, projects)) throw errorWithCode('project_refused' satisfies Failure)
  // Only the emulator uses plain HTTP, and it needs no token.
  const isSecure = endpoint.startsWith('https:')
  if (isSecure) await tokens.current(ends)
  const post = poster(endpoint, pathOf(topic), ca)
  let isOpen = true

  async function publish(message: Message) {
    const body = bodyOf(message, topic)
    const known = isSecure ? await tokens.current(ends) : undefined
    const status = await post.send(body, known)
    const final = status === 401 && known ? await post.send(body, await tokens.after(known, ends)) : status
    const failure = failureOfStatus(final)
    if (failure) throw errorWithCode(failure)
  }

  async function close() {
    isOpen = false
    await post.close()
  }

  return { isOpen: () => isOpen, publish, close }
}

const pathOf = ({ project, topic }: PubSub) => `/v1/projects/${encodeURIComponent(project)}/topics/${encodeURIComponent(topic)}:publish`

/** Pub/Sub delivers messages with the same ordering key in the order they were published. */
function bodyOf({ event_id, event_type, key, content, gzipped }: Message, { message_ordering }: PubSub) {
  const attributes = { event_id, event_type, 'Content-Type': 'application/json', ...(gzipped && { 'Content-Encoding': 'gzip' }) }
  const message = { data: content.toString('base64'), attributes, ...(message_ordering && { orderingKey: key }) }
  return JSON.stringify({ messages: [message] })
}

/** Sends a request and returns its status. A success without a message id is not a Pub/Sub response. */
function poster(endpoint: string, path: string, ca: string | undefined) {
  const pool = new Pool(endpoint, {
    connections: CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    connect: { timeout: CONNECT_WITHIN, minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca && { ca }) },
    // Connections are renewed after this long to pick up DNS changes.
    clientTtl: 300 * SECOND,
  })

  async function send(body: string, token: string | undefined) {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Assay-Pipelines/1',
      ...(token && { authorization: `Bearer ${token}` }),
    }
    const signal = AbortSignal.timeout(CONFIRM_WITHIN)
    try {
      const answer = await pool.request({ method: 'POST', path, headers, body, signal })
      const text = await textOf(answer.body)
      if (answer.statusCode === 200 && !isConfirm(text)) throw errorWithCode('protocol' satisfies Failure)
      return answer.statusCode
    } catch (error) {
      throw signal.aborted ? errorWithCode('timeout' satisfies Failure) : error
    }
  }

  return { send, close: () => pool.destroy() }
}

async function textOf(body: AsyncIterable<Buffer>) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_ANSWER) throw errorWithCode('protocol' satisfies Failure)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function isConfirm(text: string) {
  try {
    const { messageIds } = JSON.parse(text) as { messageIds?: unknown }
    return Array.isArray(messageIds) && messageIds.length === 1
  } catch {
    return false
  }
}
