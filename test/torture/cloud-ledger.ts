import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseSecret, verify } from '../../src/delivery/webhooks/sign.ts'

/** Where a value is: an object of a resource of one user at one source. */
export type Place = { user_id: string; slug: string; resource: string; key: string }

/** Null means deleted. */
type Value = number | null

type Tracked = {
  place: Place
  changes: { value: Value; at: number }[]
  /** The index of the last change that arrived. */
  delivered: number
  /** The last value and content that arrived. */
  current: Value
  content: string
}

type Lag = { slug: string; ms: number }
type Body = { event_id: string; event_type: string; data: Record<string, unknown> }

const nameOf = ({ user_id, slug, resource, key }: Place) => [user_id, slug, resource, key].join(' ')

export const isSame = (a: Value, b: Value) => (a === null || b === null ? a === b : Math.abs(a - b) < 1e-6)

/** The field with the key of a summary. Samples have a timestamp. */
const keyFields: Record<string, string> = { activity: 'calendar_date', sleep: 'bedtime_start', workouts: 'time_start' }

export const keyOf = (resource: string, item: Record<string, unknown>) => {
  const text = String(item[keyFields[resource] ?? 'timestamp'])
  return resource === 'activity' ? text : String(Date.parse(text))
}

export const isSummary = (resource: string) => resource in keyFields

/**
 * Compares changes at the clouds with the events that a receiver gets. An event that goes back to an earlier value, or that
 * repeats the last one under another ID, is a fault.
 */
export function newLedger(fieldOf: (slug: string, resource: string) => string | undefined) {
  const objects = new Map<string, Tracked>()
  const events = new Set<string>()
  const summaries = new Map<string, Tracked>()
  const lags: Lag[] = []
  const faults: string[] = []
  const counts = { events: 0, repeated: 0, changes: 0 }

  function objectAt(place: Place): Tracked {
    const name = nameOf(place)
    const found = objects.get(name) ?? { place, changes: [], delivered: -1, current: null, content: '' }
    objects.set(name, found)
    return found
  }

  function change(place: Place, value: Value) {
    counts.changes++
    const made = { value, at: Date.now() }
    objectAt(place).changes.push(made)
    return made
  }

  function apply(object: Tracked, value: Value, content: string, event_id: string) {
    const { changes, delivered, place } = object
    if (content === object.content) faults.push(`${nameOf(place)}: event ${event_id} repeats the last value`)
    const index = changes.findIndex((change, i) => i > delivered && isSame(change.value, value))
    if (index < 0 && !isSame(value, object.current) && (delivered >= 0 || changes.some((change) => isSame(change.value, value))))
      faults.push(`${nameOf(place)}: event ${event_id} goes back from ${object.current} to ${value}`)
    const now = Date.now()
    for (const { at } of index < 0 ? [] : changes.slice(delivered + 1, index + 1)) lags.push({ slug: place.slug, ms: now - at })
    Object.assign(object, { current: value, content, delivered: Math.max(index, delivered) })
  }

  function receive({ event_id, event_type, data }: Body) {
    counts.events++
    if (events.has(event_id)) return counts.repeated++
    events.add(event_id)
    const [stage, , resource = '', verb] = event_type.split('.')
    if (stage !== 'daily') return
    const slug = String(data['provider'] ?? (data['source'] as { slug?: string } | undefined)?.slug)
    const field = fieldOf(slug, resource)
    if (!field) return
    const place = { user_id: String(data['user_id']), slug, resource }
    if (isSummary(resource) && verb === 'deleted')
      for (const id of data['ids'] as string[]) {
        const object = summaries.get(id)
        if (object) apply(object, null, 'deleted', event_id)
      }
    else if (isSummary(resource)) {
      const object = objectAt({ ...place, key: keyOf(resource, data) })
      summaries.set(String(data['id']), object)
      const { updated_at: _, ...content } = data
      apply(object, Number(data[field]), JSON.stringify(content), event_id)
    } else
      for (const sample of data['data'] as Record<string, unknown>[]) {
        const object = objectAt({ ...place, key: keyOf(resource, sample) })
        if (verb === 'deleted') apply(object, null, 'deleted', event_id)
        else apply(object, Number(sample[field]), JSON.stringify(sample), event_id)
      }
  }

  /** Objects whose last change has not arrived. */
  const pending = () =>
    [...objects.values()].filter(({ changes, current }) => changes.length && !isSame(changes.at(-1)?.value ?? null, current))

  /** What the events say that a user has, by source and resource. */
  function delivered() {
    const states = new Map<string, Map<string, number>>()
    for (const { place, current } of objects.values()) {
      const name = `${place.user_id} ${place.slug} ${place.resource}`
      const state = states.get(name) ?? new Map<string, number>()
      if (current !== null) state.set(place.key, current)
      states.set(name, state)
    }
    return states
  }

  return { change, receive, pending, delivered, lags, faults, counts, nameOf }
}

export type Ledger = ReturnType<typeof newLedger>

/** The receiver of a webhook. It checks signatures, and hands events to the ledger. */
export async function openLedgerReceiver(ledger: Ledger) {
  let secret: Buffer | undefined
  const server = createServer(async (request, response) => {
    const body = await textOf(request).catch(() => undefined)
    if (body === undefined) return
    const verdict = secret && verify(secret, request.headers as Record<string, string>, body, new Date().toISOString())
    if (verdict === 'verified') ledger.receive(JSON.parse(body) as Body)
    else ledger.faults.push(`a message was not verified: ${verdict}`)
    response.writeHead(200).end()
  })
  server.keepAliveTimeout = 60_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    expect: (text: string) => {
      secret = parseSecret(text)
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function textOf(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts).toString()
}
