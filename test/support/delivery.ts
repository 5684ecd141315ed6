import { pino } from 'pino'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import type { OutboundOptions } from '../../src/delivery/pipelines/destinations/destination.ts'
import { outboundOptionsOf } from '../../src/delivery/pipelines/destinations/outbound-options.ts'
import { startWorker } from '../../src/delivery/worker/worker.ts'
import { startJobs } from '../../src/jobs/loop.ts'
import { type App, inTransaction } from '../../src/platform/app.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { type Outcome, outcomeWithoutExchange } from '../../src/platform/outbound/outcome.ts'
import type { Message, Sender } from '../../src/platform/outbound/send.ts'
import { atEnd } from './at-end.ts'
import { query } from './query.ts'
import { newUuid } from './seeded.ts'
import type { Replica, Tenant } from './world.ts'

/** A received message with its parsed headers. `n` is its position in the log. */
export type ReceivedMessage = {
  path: string
  n: number
  /** The position of the message before it for the webhook. */
  previous: number | undefined
  key: string
  id: string
  headers: Record<string, string>
  body: string
}

export const toReceivedMessage = ({ url, headers, body }: Message): ReceivedMessage => ({
  path: new URL(url).pathname,
  n: Number(headers['webhook-sequence']),
  previous: headers['webhook-previous'] === undefined ? undefined : Number(headers['webhook-previous']),
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

/** Emits events with these keys in one transaction. */
export const emitTo = async (app: App, team_id: string, keys: string[], rollback = false, bytes = 0) => {
  const committed = inTransaction(app, async (app) => {
    for (const key of keys)
      await emitForTeam(app, {
        team_id,
        event_type: 'endpoint.disabled',
        key,
        data: { webhook_id: team_id, because: 'gone', ...paddingOf(bytes) },
        at: app.wall(),
      })
    if (rollback) throw new Error('rolled back')
  })
  await (rollback ? committed.catch(() => {}) : committed)
}

/** Random text does not compress. */
const paddingOf = (bytes: number) => (bytes ? { padding: Array.from({ length: Math.ceil(bytes / 36) }, newUuid).join('') } : {})

export type Ordering = 'per_key' | 'strict' | 'unordered'

/** A webhook without a listener; tests identify its messages by path. */
export const aWebhook = ({ admin, org_id, team_id }: Tenant, path: string, body: { ordering?: Ordering; rate_limit?: number } = {}) =>
  admin.createWebhook({ params: { org_id, team_id, env: 'sandbox' }, body: { url: `http://127.0.0.1:8099${path}`, ...body } })

export type Delivery = ReceivedMessage & { by: string }

/** Records what workers send, and finds messages that overtook an earlier one of their key when they first arrived. */
export function newReceiver() {
  const received: Delivery[] = []
  const by =
    (name: string, outcomeOf: (message: ReceivedMessage) => Outcome | Promise<Outcome> = () => ok) =>
    async (message: Message) => {
      const parsed = toReceivedMessage(message)
      received.push({ ...parsed, by: name })
      return outcomeOf(parsed)
    }
  const first = () => received.filter(({ path, n }, i) => received.findIndex((other) => other.path === path && other.n === n) === i)
  return {
    received,
    by,
    /** Each message once. */
    first,
    overtaking: () =>
      [...Map.groupBy(first(), ({ path, key }) => `${path} ${key}`).values()].flatMap((ofKey) =>
        ofKey.filter(({ n }, i) => i > 0 && n < (ofKey[i - 1] as Delivery).n),
      ),
  }
}

/** Starts a worker on its own connections, which a test can close. */
export async function newWorker(
  { app, url }: Pick<Replica, 'app' | 'url'>,
  send: Sender['post'],
  { idleMs, outbound }: WorkerOptions = {},
) {
  // Too few for pipelined connections, which would open again.
  const { pool, db, close } = openDatabase(url, 5, pino({ level: 'silent' }))
  const service = { ...app, db }
  const worker = await startWorker(service, {
    send,
    onError: () => {},
    outbound: outbound ?? outboundOptionsOf(app.config),
    ...(idleMs === undefined ? {} : { idleMs }),
  })
  const search = startJobs(service, [worker.job], () => {})
  let isClosed = false
  const kill = async () => {
    if (!isClosed) await close()
    isClosed = true
  }
  const stop = async () => void (await Promise.all([search.stop(), worker.stop()]))
  atEnd(kill)
  atEnd(stop)
  return {
    pool,
    wake: worker.wake,
    stop,
    /** Closes the connections, so that the worker can neither record nor renew its lease, like a killed process. */
    kill,
  }
}

type WorkerOptions = { idleMs?: number; outbound?: OutboundOptions }

/** The worker that owns a team. */
export async function ownerOf(url: string, team_id: string) {
  const [log] = await query<{ owner: string | null }>(url, 'select owner from event_logs where team_id = $1', [team_id])
  return log?.owner ?? null
}

/** Ends the lease of the worker that owns a team, instead of waiting for it. */
export const endLeaseOfOwner = async (url: string, team_id: string) =>
  query(url, 'delete from workers where id = $1', [await ownerOf(url, team_id)])

/** Counts the messages of webhooks that are neither delivered nor given up. It ignores filters. */
export const countPending = async (url: string, webhook_ids: string[]) =>
  Number(
    (
      await query<{ count: string }>(
        url,
        `select (select count(*) from parked_messages m where m.webhook_id = any($1::uuid[]))
          + (select count(*) from webhook_cursors c join outbox o on o.team_id = c.team_id where c.webhook_id = any($1::uuid[]))
          + (select count(*) from webhook_cursors c join events e on e.team_id = c.team_id
             where c.webhook_id = any($1::uuid[]) and e.deliverable and e.no > c.after_no and e.no <> all(c.done)) as count`,
        [webhook_ids],
      )
    )[0]?.count,
  )
