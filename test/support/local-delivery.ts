import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { ok, type ReceivedMessage, toReceivedMessage } from './delivery.ts'
import { query } from './query.ts'
import { newUuid } from './seeded.ts'
import { aWebhook, waitFor } from './webhooks.ts'
import type { Replica } from './world.ts'

type Respond = (message: ReceivedMessage) => Outcome | Promise<Outcome>
type EventType = 'endpoint.disabled' | 'message.attempt.exhausted'

/** Delivers to receivers inside the test process, one for each webhook. */
export async function localDelivery(w: Replica) {
  const receivers = new Map<string, { received: ReceivedMessage[]; respond: Respond }>()
  const start = () =>
    w.startDelivery(async (message) => {
      const received = toReceivedMessage(message)
      const receiver = receivers.get(received.path)
      receiver?.received.push(received)
      return receiver ? receiver.respond(received) : ok
    })
  let worker = await start()

  async function webhookOf(tenant: Parameters<typeof aWebhook>[0], body: Record<string, unknown>, respond: Respond) {
    const path = `/${newUuid()}`
    const receiver = { received: [] as ReceivedMessage[], respond }
    receivers.set(path, receiver)
    const webhook = await aWebhook(tenant, { url: `http://127.0.0.1:8099${path}`, ...body })
    return {
      ...webhook,
      ...tenant,
      received: receiver.received,
      numbers: () => receiver.received.map(({ n }) => n),
      /** Each message with the one before it, in the order of arrival. */
      chain: () => receiver.received.map(({ n, previous }) => [n, previous]),
      respond: (next: Respond) => {
        receiver.respond = next
      },
      has: async (count: number) => {
        await waitFor(() => {
          if (receiver.received.length < count) throw new Error(`${receiver.received.length} of ${count} messages arrived`)
        })
        return receiver.received
      },
      /** The position of the cursor, as it is stored. */
      afterNo: async () => {
        const [cursor] = await query<{ after_no: number }>(w.url, 'select after_no::int from webhook_cursors where webhook_id = $1', [
          webhook.id,
        ])
        return cursor?.after_no
      },
      /** The parked positions by key, in order. */
      parked: async () => {
        const rows = await query<{ key: string; no: number }>(
          w.url,
          'select key, no::int from parked_messages where webhook_id = $1 order by no',
          [webhook.id],
        )
        return rows.map(({ key, no }) => `${key} ${no}`)
      },
      settled: () =>
        waitFor(async () => {
          const [left] = await query<{ count: number }>(w.url, 'select count(*)::int as count from outbox where team_id = $1', [
            tenant.team_id,
          ])
          if (left?.count || (await webhook.get()).waiting > 0) throw new Error('messages are pending')
        }),
      position: async (no: number) => (await tenant.admin.listWebhookMessages({ params: webhook.params, query: { no } })).position,
    }
  }

  return {
    /** A team with webhooks. Its log is empty. */
    async team() {
      const tenant = await w.tenant()
      const { team_id } = tenant
      return {
        ...tenant,
        webhook: (body: Record<string, unknown> = {}, respond: Respond = () => ok) => webhookOf(tenant, body, respond),
        /** Emits an event for each key in one transaction. */
        emit: (...keys: string[]) => emitOf(w.app, team_id, 'endpoint.disabled', keys),
        /** Emits events of another type. */
        emitOther: (...keys: string[]) => emitOf(w.app, team_id, 'message.attempt.exhausted', keys),
        /** Waits until the log has this many events and its owner knows everything about the webhooks. */
        isLogged: (last_no: number) =>
          waitFor(async () => {
            const [log] = await query(w.url, 'select from event_logs where team_id = $1 and last_no = $2 and due_at is null', [
              team_id,
              last_no,
            ])
            if (!log) throw new Error('the log is not that long')
          }),
        /** Moves the clock, and lets the owner look what is due. */
        pass: (ms: number) => {
          w.advanceTime(ms)
          worker.wake([team_id])
        },
      }
    },
    stop: () => worker.stop(),
    start: async () => {
      worker = await start()
    },
  }
}

const emitOf = (app: Replica['app'], team_id: string, event_type: EventType, keys: string[]) =>
  inTransaction(app, async (app) => {
    const webhook_id = team_id
    for (const key of keys)
      if (event_type === 'endpoint.disabled')
        await emitForTeam(app, { team_id, event_type, key, data: { webhook_id, because: 'gone' }, at: app.wall() })
      else {
        const data = { webhook_id, event_id: team_id, event_type: 'user.created', attempts: 8, status: 400, error: 'status' }
        await emitForTeam(app, { team_id, event_type, key, data, at: app.wall() })
      }
  })
