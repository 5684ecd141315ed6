import pg from 'pg'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { type DeliveryContext, deliverDue, settleRuns } from '../../src/delivery/webhooks/sending/deliver.ts'
import { WORKER_LOCK } from '../../src/delivery/webhooks/sending/store-lanes.ts'
import { newWorkerNumber } from '../../src/delivery/webhooks/sending/worker-lease.ts'
import { type App, inTransaction } from '../../src/platform/app.ts'
import { type Outcome, outcomeWithoutExchange } from '../../src/platform/outbound/outcome.ts'
import type { Message } from '../../src/platform/outbound/send.ts'
import { eventually } from './process.ts'
import { query } from './query.ts'
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
  let workerLock = await holdWorkerLock(url, newWorkerNumber())
  const runs: LaneRun[] = []
  const context: DeliveryContext = {
    app,
    worker: workerLock.number,
    lanesHeld: 0,
    recordMetrics: () => {},
    send: async (message) => send(toReceivedMessage(message)),
    settle: (claimAndSend) => runs.push(claimAndSend),
  }
  let sending = 0
  let unfinished = new Set<string>()
  const renew = async () => {
    await workerLock.end()
    workerLock = await holdWorkerLock(url, newWorkerNumber())
    context.worker = workerLock.number
  }
  return {
    context,
    /** Claims and sends; returns how many lanes it holds. */
    async claimAndSend(webhook_ids: string[]) {
      sending += (await deliverDue(context, webhook_ids)).claimed
      await eventually(() => runs.length >= sending)
      return sending
    },
    /** Claims without waiting for the sends. */
    claim: async (webhook_ids: string[]) => (await deliverDue(context, webhook_ids)).claimed,
    /** The lanes that the next `settle` is about. */
    unsettled: (limit = runs.length) => runs.slice(0, limit).map(({ settled: { id, lease } }) => ({ id, lease })),
    /** Settles runs and returns how many are still busy. */
    async settle(limit = runs.length) {
      const batch = runs.splice(0, limit)
      const settled = await settleRuns(context, batch)
      const { busy } = settled
      unfinished = settled.more
      runs.unshift(...busy)
      sending -= batch.length - busy.length
      return busy.length
    },
    /** The webhooks of the last `settle` that have more to send. */
    unfinished: () => [...unfinished],
    /** Drops every unsettled run, like kill -9. */
    async crash() {
      sending -= runs.splice(0).length
      context.lanesHeld = 0
      await renew()
    },
    /** Loses the lock, so that others consider the worker dead while it still settles. */
    loseLock: renew,
    end: () => workerLock.end(),
  }
}

/** A connection that holds the lock of a live worker. */
async function holdWorkerLock(url: string, number: number) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('select pg_advisory_lock($1, $2)', [WORKER_LOCK, number])
  const pid = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
  return {
    number,
    async end() {
      await client.end()
      await eventually(async () => (await query(url, 'select from pg_stat_activity where pid = $1', [pid])).length === 0)
    },
  }
}

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
        'select count(*) from deliveries d join lanes l on l.id = d.lane_id where l.webhook_id = any($1::uuid[])',
        [webhook_ids],
      )
    )[0]?.count,
  )
