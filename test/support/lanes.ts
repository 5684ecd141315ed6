import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { type DeliveryContext, deliverDue, settleRuns } from '../../src/delivery/webhooks/sending/deliver.ts'
import { laneCapacity } from '../../src/delivery/webhooks/sending/lane-capacity.ts'
import { type App, inTransaction } from '../../src/platform/app.ts'
import { type Outcome, outcomeWithoutExchange } from '../../src/platform/outbound/outcome.ts'
import type { Message } from '../../src/platform/outbound/send.ts'
import type { WebhookRef } from '../../src/platform/webhook-ref.ts'
import { eventually } from './process.ts'
import { query } from './query.ts'
import { newUuid } from './seeded.ts'
import type { Tenant } from './world.ts'

type LaneRun = Parameters<DeliveryContext['settle']>[0]

/** A received message with its parsed headers. */
export type ReceivedMessage = { path: string; n: number; key: string; id: string; headers: Record<string, string>; body: string }

export const toReceivedMessage = ({ url, headers, body }: Message): ReceivedMessage => ({
  path: new URL(url).pathname,
  n: Number(headers['webhook-sequence']),
  key: headers['webhook-key'] as string,
  id: headers['webhook-id'] as string,
  headers,
  body: body.toString(),
})

/** An outcome without an HTTP exchange. */
export const outcome = (status: number | null, error: Outcome['error'] = null, retry_after_ms: number | null = null): Outcome => ({
  ...outcomeWithoutExchange(status, error ?? (status === 200 ? null : 'status')),
  retry_after_ms,
})

export const ok = outcome(200)

/** A worker that the test drives: it sends claimed messages immediately and settles them on demand. */
export async function manualWorker(app: App, url: string, send: (message: ReceivedMessage) => Outcome | Promise<Outcome>) {
  const runs: LaneRun[] = []
  const context: DeliveryContext = {
    app,
    worker: await startLease(url),
    isAlive: (worker) => worker === context.worker,
    capacity: laneCapacity(),
    claims: new Map(),
    recordMetrics: () => {},
    send: async (message) => send(toReceivedMessage(message)),
    settle: (run) => runs.push(run),
  }
  let sending = 0
  let settledRuns: LaneRun[] = []
  let unfinished: WebhookRef[] = []
  const settleAll = async (batch: LaneRun[]) => {
    const teams = [...Map.groupBy(batch, (run) => run.team_id)]
    return Promise.all(teams.map(([team_id, runs]) => settleRuns(context, team_id, runs)))
  }
  const loseLease = async () => {
    await endLease(url, context.worker)
    context.worker = await startLease(url)
  }
  return {
    context,
    /** Claims and sends; returns how many lanes it holds. */
    async claimAndSend(webhooks: WebhookRef[]) {
      sending += (await deliverDue(context, webhooks)).claimed
      await eventually(() => runs.length >= sending)
      return sending
    },
    /** Claims without waiting for the sends. */
    claim: async (webhooks: WebhookRef[]) => (await deliverDue(context, webhooks)).claimed,
    /** The lanes that the next `settle` is about. */
    unsettled: (limit = runs.length) => runs.slice(0, limit).map(({ settled: { id, lease } }) => ({ id, lease })),
    /** Settles runs and returns how many are still busy. */
    async settle(limit = runs.length) {
      const batch = runs.splice(0, limit)
      const settled = await settleAll(batch)
      const busy = settled.flatMap((team) => team.busy)
      settledRuns = batch
      unfinished = settled.flatMap(({ more }) => [...more])
      runs.unshift(...busy)
      sending -= batch.length - busy.length
      return busy.length
    },
    /** Settles the last runs again, as after a lost response. */
    repeatSettlement: () => settleAll(settledRuns),
    /** The webhooks of the last `settle` that have more to send. */
    unfinished: () => unfinished,
    /** Drops every unsettled run, like kill -9. */
    async crash() {
      sending -= runs.splice(0).length
      context.capacity = laneCapacity()
      await loseLease()
    },
    /** Loses the lease, so that others consider the worker dead while it still settles. */
    loseLease,
    end: () => endLease(url, context.worker),
  }
}

/** Registers a live worker and returns its ID. */
async function startLease(url: string) {
  const id = newUuid()
  await query(url, "insert into workers (id, leased_until) values ($1, now() + interval '1 hour')", [id])
  return id
}

const endLease = (url: string, id: string) => query(url, 'delete from workers where id = $1', [id])

/** Emits events with these keys in one transaction. */
export const emitTo = async (app: App, team_id: string, keys: string[], rollback = false) => {
  const committed = inTransaction(app, async (app) => {
    for (const key of keys)
      await emitForTeam(app, {
        team_id,
        event_type: 'endpoint.disabled',
        key,
        data: { webhook_id: team_id, because: 'gone' },
        at: app.wall(),
      })
    if (rollback) throw new Error('rolled back')
  })
  await (rollback ? committed.catch(() => {}) : committed)
}

export type Ordering = 'per_key' | 'strict' | 'unordered'

/** A webhook without a listener; tests identify its messages by path. */
export const aWebhook = ({ admin, org_id, team_id }: Tenant, path: string, body: { ordering?: Ordering; rate_limit?: number } = {}) =>
  admin.createWebhook({ params: { org_id, team_id, env: 'sandbox' }, body: { url: `http://127.0.0.1:8099${path}`, ...body } })

/** Counts the pending deliveries of webhooks. */
export const countPending = async (url: string, webhook_ids: string[]) =>
  Number(
    (
      await query<{ count: string }>(
        url,
        'select count(*) from deliveries d join lanes l on l.team_id = d.team_id and l.id = d.lane_id where l.webhook_id = any($1::uuid[])',
        [webhook_ids],
      )
    )[0]?.count,
  )
