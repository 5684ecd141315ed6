import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { EventEnvelope } from '../../../contract/delivery/event.ts'

/** Bodies up to this many bytes are not compressed. */
const MAX_PLAIN_BYTES = 1024

const compress = promisify(gzip)

export type Message = { event_id: string; event_type: string; key: string; content: Buffer; timestamp: number; gzipped: boolean }

/** An event on the wire: the same JSON that webhooks receive, compressed if it is large. */
export async function messageOf(event: EventEnvelope, key: string): Promise<Message> {
  const body = Buffer.from(JSON.stringify(event))
  const gzipped = body.length > MAX_PLAIN_BYTES
  return {
    event_id: event.event_id,
    event_type: event.event_type,
    key,
    content: gzipped ? await compress(body) : body,
    timestamp: Math.floor(Date.parse(event.created_at) / 1000),
    gzipped,
  }
}
