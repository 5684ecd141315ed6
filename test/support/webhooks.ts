import { vi } from 'vitest'
import { atEnd } from './at-end.ts'
import { TIMEOUT_MS } from './process.ts'
import { type Behavior, faults, openReceiver } from './receiver.ts'
import type { Tenant } from './world.ts'

/** A receiver that tests can wait for. `behaviorOf` is called for each message, starting with 1. */
export async function aReceiver(behaviorOf: (n: number) => Behavior = () => faults.ok) {
  let behavior = behaviorOf
  let arrived = 0
  const receiver = await openReceiver((response) => behavior(++arrived)(response))
  atEnd(() => receiver.close())
  return {
    ...receiver,
    behave: (next: (n: number) => Behavior) => {
      behavior = next
    },
    has: async (count: number) => {
      await waitFor(() => {
        if (receiver.received.length < count) throw new Error(`${receiver.received.length} of ${count} messages arrived`)
      })
      return receiver.received
    },
    sequences: () => receiver.received.map(({ headers }) => Number(headers['webhook-sequence'])),
    events: () => receiver.received.map(({ body }) => JSON.parse(body) as EventBody),
  }
}

type EventBody = { event_type: string; event_id: string; user_id: string | null; data: Record<string, unknown> }

export const waitFor = <T>(assertion: () => T | Promise<T>) => vi.waitFor(assertion, { timeout: TIMEOUT_MS, interval: 20 })

/** All event types except user events, so that creating a user sends no message. */
const nonUserTypes = ['labtest.*', 'provider.*', 'daily.*', 'historical.*', 'endpoint.*', 'message.*']

/** Creates a webhook and returns operations on it. `filter_types: null` takes every event. */
export async function aWebhook({ admin, org_id, team_id }: Tenant, body: { url: string } & Record<string, unknown>) {
  const team = { org_id, team_id, env: 'sandbox' as const }
  const { id } = await admin.createWebhook({ params: team, body: { filter_types: nonUserTypes, ...body } })
  const params = { ...team, webhook_id: id }
  return {
    id,
    params,
    get: () => admin.getWebhook({ params }),
    patch: (body: Parameters<typeof admin.patchWebhook>[0]['body']) => admin.patchWebhook({ params, body }),
    attempts: async (query: NonNullable<Parameters<typeof admin.listWebhookAttempts>[0]['query']> = {}) =>
      (await admin.listWebhookAttempts({ params, query })).data,
    pending: async () => (await admin.listWebhookMessages({ params })).data,
    retry: (event_id: string) => admin.retryWebhookMessage({ params: { ...params, event_id } }),
  }
}
