import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** Bodies up to this many bytes are not compressed. */
const MAX_PLAIN_BYTES = 1024

const compress = promisify(gzip)

/** An event with its ordering key and the text to publish. */
export type Publication = { event_id: string; event_type: string; created_at: string; key: string; text: string; content_type: string }

export type Message = Pick<Publication, 'event_id' | 'event_type' | 'key' | 'content_type'> & {
  content: Buffer
  timestamp: number
  gzipped: boolean
}

/** An event on the wire: the same text that webhooks receive, compressed if it is large. */
export async function messageOf({ text, created_at, event_id, event_type, key, content_type }: Publication): Promise<Message> {
  const body = Buffer.from(text)
  const gzipped = body.length > MAX_PLAIN_BYTES
  return {
    ...{ event_id, event_type, key, content_type },
    content: gzipped ? await compress(body) : body,
    timestamp: Math.floor(Date.parse(created_at) / 1000),
    gzipped,
  }
}
