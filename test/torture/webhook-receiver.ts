import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseSecret, verify } from '../../src/delivery/webhooks/sign.ts'

/** `ids` by sequence number; `taken` is the number of the last message acknowledged with 200. */
type Lane = { ids: string[]; taken: number }
export type LanePosition = { path: string; key: string; n: number }
type Webhook = { secret: Buffer; lanes: Map<string, Lane>; takenAt: Map<string, number> }

/** Checks each message on arrival: its signature, and that all earlier messages of its lane were acknowledged. */
export async function openVerifier() {
  const webhooks = new Map<string, Webhook>()
  const counts = { taken: 0, repeated: 0, refused: 0 }
  const faults: string[] = []
  const repeats: (LanePosition & { at: number })[] = []
  const held = new Set<LanePosition>()
  const refusals = new Set<string>()
  let refuseEvery = Number.POSITIVE_INFINITY
  let requests = 0
  let pause: PromiseWithResolvers<void> | undefined
  let checksOrder = true

  const server = createServer(async (request, response) => {
    const body = await textOf(request).catch(() => undefined)
    // A sender killed during the request has not sent the message.
    if (body === undefined) return
    const position = positionOf(request)
    const name = Object.values(position).join(' ')
    // A message that is refused twice waits five minutes for its next attempt.
    const refused = ++requests % refuseEvery === 0 && !refusals.has(name)
    if (refused) refusals.add(name)
    if (refused) counts.refused++
    else take(position, request.headers as Record<string, string>, body)
    held.add(position)
    await pause?.promise
    held.delete(position)
    response.writeHead(refused ? 503 : 200).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  function take({ path, key, n }: LanePosition, headers: Record<string, string>, body: string) {
    const webhook = webhooks.get(path)
    if (!webhook) return faults.push(`${path} is not a webhook`)
    const { 'webhook-id': id = '' } = headers
    const lane = webhook.lanes.get(key) ?? { ids: [], taken: 0 }
    webhook.lanes.set(key, lane)
    const verdict = verify(webhook.secret, headers, body, new Date().toISOString())
    if (verdict !== 'verified') faults.push(`${path} ${id}: ${verdict}`)
    if (JSON.parse(body).event_id !== id) faults.push(`${path} ${id}: the body has another event_id`)
    if (!checksOrder) return recordOnce(webhook, id)
    if (n > lane.taken + 1) faults.push(`${path} ${key}: ${n} arrived after ${lane.taken}`)
    if (n <= lane.taken) {
      counts.repeated++
      repeats.push({ path, key, n, at: Date.now() })
      if (lane.ids[n - 1] !== id) faults.push(`${path} ${key}: ${n} was a different event before`)
      return
    }
    lane.ids[n - 1] = id
    lane.taken = n
    webhook.takenAt.set(id, Date.now())
    counts.taken++
  }

  function recordOnce({ takenAt }: Webhook, id: string) {
    counts[takenAt.has(id) ? 'repeated' : 'taken']++
    if (!takenAt.has(id)) takenAt.set(id, Date.now())
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
    expect: (path: string, secret: string) => webhooks.set(path, { secret: parseSecret(secret), lanes: new Map(), takenAt: new Map() }),
    at: (path: string) => webhooks.get(path) as Webhook,
    /** A database that lost commits uses their numbers again. */
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

const positionOf = ({ url = '', headers }: IncomingMessage): LanePosition => ({
  path: url,
  key: String(headers['webhook-key']),
  n: Number(headers['webhook-sequence']),
})

async function textOf(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}
