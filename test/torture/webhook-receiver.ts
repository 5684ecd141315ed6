import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseSecret, verify } from '../../src/delivery/webhooks/sign.ts'

type Ordering = 'per_key' | 'strict' | 'unordered'
export type Place = { path: string; key: string; n: number }
type Taken = { id: string; previous: string | undefined }
type Webhook = {
  secret: Buffer
  ordering: Ordering
  /** The messages acknowledged with 200, by position in the log. */
  taken: Map<number, Taken>
  takenAt: Map<string, number>
  /** The last position of each key. */
  last: Map<string, number>
}

/** Checks each message on arrival: its signature, that none of its key was overtaken, and that a repeated one is the same. */
export async function openVerifier() {
  const webhooks = new Map<string, Webhook>()
  const counts = { taken: 0, repeated: 0, refused: 0 }
  const faults: string[] = []
  const repeats: (Place & { at: number })[] = []
  const held = new Set<Place>()
  const refusals = new Set<string>()
  let refuseEvery = Number.POSITIVE_INFINITY
  let requests = 0
  let pause: PromiseWithResolvers<void> | undefined
  let checksOrder = true

  const server = createServer(async (request, response) => {
    const body = await textOf(request).catch(() => undefined)
    // A sender killed during the request has not sent the message.
    if (body === undefined) return
    const place = placeOf(request)
    const name = Object.values(place).join(' ')
    // A message that is refused twice waits five minutes for its next attempt.
    const refused = ++requests % refuseEvery === 0 && !refusals.has(name)
    if (refused) refusals.add(name)
    if (refused) counts.refused++
    else take(place, request.headers as Record<string, string>, body)
    held.add(place)
    await pause?.promise
    held.delete(place)
    response.writeHead(refused ? 503 : 200).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  function take({ path, key, n }: Place, headers: Record<string, string>, body: string) {
    const webhook = webhooks.get(path)
    if (!webhook) return faults.push(`${path} is not a webhook`)
    const { 'webhook-id': id = '', 'webhook-previous': previous } = headers
    const verdict = verify(webhook.secret, headers, body, new Date().toISOString())
    if (verdict !== 'verified') faults.push(`${path} ${id}: ${verdict}`)
    if (JSON.parse(body).event_id !== id) faults.push(`${path} ${id}: the body has another event_id`)
    if (!checksOrder) return recordOnce(webhook, n, { id, previous })
    const before = webhook.taken.get(n)
    if (before) {
      counts.repeated++
      repeats.push({ path, key, n, at: Date.now() })
      if (before.id !== id || before.previous !== previous) faults.push(`${path} ${key}: ${n} was a different message before`)
      return
    }
    if (webhook.takenAt.has(id)) faults.push(`${path} ${key}: ${n} had another position before`)
    const ordered = { per_key: key, strict: '*', unordered: id }[webhook.ordering]
    const last = webhook.last.get(ordered) ?? 0
    if (n < last) faults.push(`${path} ${key}: ${n} arrived after ${last}`)
    webhook.last.set(ordered, Math.max(n, last))
    webhook.taken.set(n, { id, previous })
    webhook.takenAt.set(id, Date.now())
    counts.taken++
  }

  function recordOnce({ taken, takenAt }: Webhook, n: number, message: Taken) {
    counts[takenAt.has(message.id) ? 'repeated' : 'taken']++
    if (takenAt.has(message.id)) return
    takenAt.set(message.id, Date.now())
    taken.set(n, message)
  }

  return {
    counts,
    faults,
    /** Repeated messages, with the time. */
    repeats,
    /** Messages without a response so far. */
    held: () => [...held],
    /** Accepts messages without responding until `resumeResponses`. */
    holdResponses: () => {
      pause = Promise.withResolvers()
    },
    resumeResponses: () => {
      pause?.resolve()
      pause = undefined
    },
    urlOf: (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    expect: (path: string, secret: string, ordering: Ordering) =>
      webhooks.set(path, { secret: parseSecret(secret), ordering, taken: new Map(), takenAt: new Map(), last: new Map() }),
    at: (path: string) => webhooks.get(path) as Webhook,
    /** A database that lost commits uses their positions again. */
    ignoreOrder: () => {
      checksOrder = false
    },
    /** Responds to every nth request with 503, but only once to the same message. */
    refuse: (every: number) => {
      refuseEvery = every
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const placeOf = ({ url = '', headers }: IncomingMessage): Place => ({
  path: url,
  key: String(headers['webhook-key']),
  n: Number(headers['webhook-sequence']),
})

async function textOf(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}
