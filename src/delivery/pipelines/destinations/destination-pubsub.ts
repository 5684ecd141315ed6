import { Pool } from 'undici'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import { SECOND } from '../../../platform/time.ts'
import { isProjectOpen, type PubSub } from '../rules.ts'
import { type Failure, failureOfStatus } from '../rules-failure.ts'
import type { Destination, OutboundOptions } from './destination.ts'
import type { Message } from './message.ts'

const CONNECT_WITHIN = 10 * SECOND
const CONFIRM_WITHIN = 30 * SECOND
/** Each event is a request of its own, so this is how many are under way. Idle connections end by themselves. */
const CONNECTIONS = 24
/** What is answered is the id of a message, or an error. */
const MAX_ANSWER = 64 * 1024

/** A topic of Google Cloud Pub/Sub by its REST protocol: every event is a request, answered when it is kept. */
export async function openPubSub(topic: PubSub, { pubsub, ca }: OutboundOptions, ends?: AbortSignal): Promise<Destination> {
  const { endpoint, projects, tokens } = pubsub
  // What the operator opened may have become less since the topic was taken.
  if (!isProjectOpen(topic.project, projects)) throw errorWithCode('project_refused' satisfies Failure)
  // Only the emulator is reached without encryption, and it asks nobody who they are.
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

/** Messages with the same ordering key come in the order in which they were published. */
function bodyOf({ event_id, event_type, key, content, gzipped }: Message, { message_ordering }: PubSub) {
  const attributes = { event_id, event_type, 'Content-Type': 'application/json', ...(gzipped && { 'Content-Encoding': 'gzip' }) }
  const message = { data: content.toString('base64'), attributes, ...(message_ordering && { orderingKey: key }) }
  return JSON.stringify({ messages: [message] })
}

/** Answers statuses; a status that says yes without the id of a message is no answer of Pub/Sub. */
function poster(endpoint: string, path: string, ca: string | undefined) {
  const pool = new Pool(endpoint, {
    connections: CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    // Said out loud, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    connect: { timeout: CONNECT_WITHIN, minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca && { ca }) },
    // Changes of DNS arrive by then.
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
