import { createHmac, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { DAY, later, SECOND } from '../../../../platform/time.ts'
import { newDeliveries } from '../../stand-in/deliveries.ts'
import type { OAuthClient } from '../../stand-in/oauth.ts'
import type { Response } from '../../stand-in/server.ts'

const dataTypes =
  'tag enhanced_tag workout session sleep daily_sleep daily_readiness daily_activity daily_spo2 sleep_time rest_mode_period ring_configuration daily_stress daily_cardiovascular_age daily_resilience vo2_max meal'

const NewSubscription = z.strictObject({
  callback_url: z.url(),
  verification_token: z.string().min(1),
  event_type: z.enum(['create', 'update', 'delete']),
  data_type: z.enum(dataTypes.split(' ')),
})

type Subscription = z.output<typeof NewSubscription> & { id: string; expiration_time: string }
type Event = { event_type: 'create' | 'update' | 'delete'; data_type: string; object_id: string; user_id: string }

type Options = { client: OAuthClient; now(): string; reach(url: string): string }

/** The subscriptions of the application, and the notifications to them. */
export function newWebhooks({ client, now, reach }: Options) {
  const subscriptions = new Map<string, Subscription>()
  const deliveries = newDeliveries(reach)
  const present = ({ verification_token: _, ...shown }: Subscription) => shown

  /** The handshake of a new subscription. */
  async function accepts({ callback_url, verification_token }: z.output<typeof NewSubscription>) {
    const challenge = randomUUID()
    const url = new URL(reach(callback_url))
    url.searchParams.set('verification_token', verification_token)
    url.searchParams.set('challenge', challenge)
    const response = await fetch(url, { signal: AbortSignal.timeout(10 * SECOND) }).catch(() => undefined)
    const body = (await response?.json().catch(() => undefined)) as { challenge?: string } | undefined
    return response?.status === 200 && body?.challenge === challenge
  }

  async function handle(method: string, path: string[], json: unknown, headers: Record<string, unknown>): Promise<Response> {
    if (headers['x-client-id'] !== client.client_id || headers['x-client-secret'] !== client.client_secret)
      return error(401, 'Unknown client.')
    const [first = '', second = ''] = path
    if (method === 'GET' && !first) return { status: 200, body: [...subscriptions.values()].map(present) }
    if (method === 'POST' && !first) return create(json)
    const subscription = subscriptions.get(method === 'PUT' && first === 'renew' ? second : first)
    if (!subscription) return error(403, 'Unknown subscription.')
    if (method === 'DELETE') subscriptions.delete(subscription.id)
    else if (method === 'PUT' && first === 'renew') subscription.expiration_time = later(now(), 90 * DAY)
    else if (method !== 'GET') return error(405, 'Method not allowed.')
    return method === 'DELETE' ? { status: 204 } : { status: 200, body: present(subscription) }
  }

  async function create(json: unknown): Promise<Response> {
    const { data: wanted } = NewSubscription.safeParse(json)
    if (!wanted) return error(422, 'The subscription is not valid.')
    const same = [...subscriptions.values()].some((one) => one.event_type === wanted.event_type && one.data_type === wanted.data_type)
    if (same) return error(409, 'The subscription exists.')
    if (!(await accepts(wanted))) return error(400, 'The callback did not return the challenge.')
    const subscription = { ...wanted, id: randomUUID(), expiration_time: later(now(), 90 * DAY) }
    subscriptions.set(subscription.id, subscription)
    return { status: 201, body: present(subscription) }
  }

  /** Queues a notification for the subscriptions that match. */
  function notify(event: Event) {
    for (const subscription of subscriptions.values()) {
      const matches = subscription.event_type === event.event_type && subscription.data_type === event.data_type
      if (!matches || subscription.expiration_time <= now()) continue
      const body = JSON.stringify({ ...event, event_time: now() })
      const timestamp = String(Math.floor(Date.parse(now()) / SECOND))
      const signature = createHmac('sha256', client.client_secret)
        .update(timestamp + body)
        .digest('hex')
        .toUpperCase()
      const headers = { 'content-type': 'application/json', 'x-oura-timestamp': timestamp, 'x-oura-signature': signature }
      deliveries.add({ url: subscription.callback_url, headers, body, gone: () => void subscriptions.delete(subscription.id) })
    }
  }

  return { handle, notify, deliver: deliveries.deliver, take: deliveries.take, subscriptions }
}

const error = (status: number, detail: string): Response => ({ status, body: { detail } })
