import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { atEnd } from './at-end.ts'

type SseMessage = { id?: string; event?: string; data?: Record<string, unknown>; comment?: string }

/** Reads server-sent events in order, like a browser. */
export async function listen(url: string, headers: Record<string, string>) {
  // fetch keeps a connection open after an aborted stream, and a stopping server would wait for it.
  const request = get(url, { headers, agent: false }).on('error', () => {})
  atEnd(async () => request.destroy())
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const pieces = response.setEncoding('utf8').iterator({ destroyOnReturn: false }) as AsyncIterator<string>
  let text = ''
  /** The next non-empty message, or undefined at the end. */
  async function next(): Promise<SseMessage | undefined> {
    const end = text.indexOf('\n\n')
    if (end < 0) {
      const { done, value } = await pieces.next()
      if (done) return undefined
      text += value
      return next()
    }
    const block = parseMessage(text.slice(0, end))
    text = text.slice(end + 2)
    return Object.keys(block).length ? block : next()
  }
  return { status: response.statusCode, type: response.headers['content-type'], next, close: () => request.destroy() }
}

function parseMessage(block: string): SseMessage {
  const message: SseMessage = {}
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w*): ?(.*)$/.exec(line) ?? []
    if (name === '') message.comment = value
    if (name === 'id' || name === 'event') message[name] = value
    if (name === 'data') message.data = JSON.parse(value)
  }
  return message
}
