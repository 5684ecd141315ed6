import { CompiledQuery, sql } from 'kysely'
import { type Db, prepareStatement } from '../../../platform/db/open.ts'

/** A lane is a delivery queue of one webhook, and its messages are sent in order. `version` is the version of the webhook's row at the time of the claim. */
export type Lane = { id: number; webhook_id: string; version: string; key: string; head: number; attempts: number }

/** Webhooks of any team with due messages. */
export const listWebhooksWithWork = async (db: Db, now: string) => {
  const { rows } = await sql<{ webhook_id: string }>`
    with recursive known as (
      (select webhook_id from lanes where run_at is not null order by webhook_id limit 1)
      union all
      select (select l.webhook_id from lanes l where l.run_at is not null and l.webhook_id > known.webhook_id order by l.webhook_id limit 1)
      from known where known.webhook_id is not null
    )
    select webhook_id from known where exists (select from lanes l where l.webhook_id = known.webhook_id and l.run_at <= ${now})`.execute(
    db,
  )
  return rows.map(({ webhook_id }) => webhook_id)
}

const claimStatement = prepareStatement(
  'claim_lanes',
  `
with ready as (
  select w.id,
    least(
      case when w.failures >= $9::int then 1 else $6::int end
        - (select count(*) from lanes held where held.webhook_id = w.id and held.worker is not null)::int,
      floor(least(w.rate_limit, w.tokens + extract(epoch from $2::timestamptz - w.tokens_at) * w.rate_limit))::int
    ) as room
  from webhooks w
  where w.id = any($1::uuid[]) and w.disabled_at is null and (w.paused_until is null or w.paused_until <= $2::timestamptz)
),
due as (
  select l.id, l.webhook_id from ready cross join lateral (
    select lanes.id, lanes.webhook_id from lanes
    where lanes.webhook_id = ready.id and lanes.run_at <= $2::timestamptz and lanes.worker is null
    order by lanes.run_at limit greatest(ready.room, 0) for update skip locked
  ) l limit $5::int
),
spent as (
  update webhooks w
  set tokens = least(w.rate_limit, w.tokens + extract(epoch from $2::timestamptz - w.tokens_at) * w.rate_limit) - c.taken, tokens_at = $2::timestamptz
  from (select webhook_id, count(*) as taken from due group by webhook_id) c
  where w.id = c.webhook_id and w.rate_limit is not null
),
claimed as (
  update lanes set worker = $3::int, lease = $4::uuid, leased_until = $7::timestamptz
  from due where lanes.id = due.id
  returning lanes.id, lanes.webhook_id, lanes.key, lanes.head, lanes.attempts
)
select c.id, c.webhook_id, (select xmin::text from webhooks where webhooks.id = c.webhook_id) as version, c.key, c.head, c.attempts,
       d.n, d.event_id, d.event_at, e.event_type, e.team_id, e.user_id, e.created_at, e.sealed, k.id as key_id, k.wrapped as wrapped_key
from claimed c
left join lateral (
  select d.n, d.event_id, d.event_at from deliveries d where d.lane_id = c.id and d.n > c.head order by d.n limit $8::int
) d on true
left join lateral (
  select e.event_type, e.team_id, e.user_id, e.created_at, e.sealed from events e where e.id = d.event_id and e.logged_at = d.event_at limit 1
) e on true
left join sealing_keys k on k.user_id = e.user_id
order by c.id, d.n`,
)

type Claim = {
  webhook_ids: string[]
  now: string
  worker: number
  lease: string
  limit: number
  per_webhook: number
  until: string
  messages_per_lane: number
  /** Consecutive failures after which only one message at a time is sent. */
  breaker_threshold: number
}

/**
 * Claims lanes with their first messages in order, per webhook as many as its health, rate and share allow.
 * A message whose user was erased has no payload. A lane may come without messages: the statement saw the lane, but not yet its message.
 */
export async function claimLanes(
  db: Db,
  { webhook_ids, now, worker, lease, limit, per_webhook, until, messages_per_lane, breaker_threshold }: Claim,
) {
  const values = [webhook_ids, now, worker, lease, limit, per_webhook, until, messages_per_lane, breaker_threshold]
  const { rows } = await db.executeQuery<ClaimedRow>(CompiledQuery.raw(claimStatement, values))
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((rows) => ({
    lane: laneOf(rows[0] as ClaimedRow),
    messages: rows.filter((row): row is ClaimedRow & Message => row.n !== null),
  }))
}

const laneOf = ({ id, webhook_id, version, key, head, attempts }: ClaimedRow): Lane => ({ id, webhook_id, version, key, head, attempts })

export type Message = {
  n: number
  event_id: string
  event_at: string
  event_type: string
  team_id: string
  /** Null for an event that is not about a user. */
  user_id: string | null
  created_at: string
  key: string
  sealed: Buffer
  key_id: string | null
  wrapped_key: Buffer | null
}

type ClaimedRow = Lane & { [F in keyof Message]: F extends keyof Lane ? Message[F] : Message[F] | null }

export type SettledLane = { id: number; head: number; attempts: number; run_at: string | null }
export type NewAttempt = {
  id: string
  at: string
  team_id: string
  webhook_id: string
  user_id: string | null
  event_id: string
  event_at: string
  event_type: string
  key: string
  n: number
  attempt: number
  outcome: 'delivered' | 'retried' | 'exhausted'
  status: number | null
  error: string | null
  ms: number
  next_at: string | null
  sealed: Buffer
}

const attemptTypes = {
  id: 'uuid',
  at: 'timestamptz',
  team_id: 'uuid',
  webhook_id: 'uuid',
  user_id: 'uuid',
  event_id: 'uuid',
  event_at: 'timestamptz',
  event_type: 'text',
  key: 'text',
  n: 'bigint',
  attempt: 'int',
  outcome: 'text',
  status: 'smallint',
  error: 'text',
  ms: 'int',
  next_at: 'timestamptz',
  sealed: 'bytea',
} as const satisfies Record<keyof NewAttempt, string>
const attemptColumns = Object.keys(attemptTypes) as (keyof NewAttempt)[]
const columns = attemptColumns.join(', ')

const settleStatement = prepareStatement(
  'settle_lanes',
  `
with done as (
  select * from unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::int[], $5::timestamptz[]) as done (id, lease, head, attempts, run_at)
),
held as materialized (select l.id from lanes l join done on l.id = done.id and l.lease = done.lease for update of l skip locked),
busy as (
  select l.id, l.webhook_id, l.key from lanes l join done on l.id = done.id and l.lease = done.lease
  where l.id not in (select id from held)
),
settled as (
  update lanes l set head = done.head, attempts = done.attempts, worker = null, lease = null, leased_until = null,
    settled_at = $6::timestamptz, run_at = case when l.tail > done.head then coalesce(done.run_at, $6::timestamptz) end
  from done join held on held.id = done.id where l.id = done.id
  returning l.id, l.head, l.webhook_id, l.tail > done.head as more
),
due as (
  select webhook_id from (select distinct webhook_id from settled) w where exists (
    select from lanes l where l.webhook_id = w.webhook_id and l.run_at <= $6::timestamptz and l.worker is null)
),
gone as (delete from deliveries d using settled where d.lane_id = settled.id and d.n <= settled.head),
logged as (
  insert into attempts (${columns})
  select a.* from unnest(${attemptColumns.map((column, i) => `$${i + 7}::${attemptTypes[column]}[]`).join(', ')}) as a (${columns})
  where (a.user_id is null or exists (select from users where users.user_id = a.user_id))
    and exists (select from teams where teams.id = a.team_id)
    and (a.webhook_id, a.key) not in (select webhook_id, key from busy)
)
select id, webhook_id, more or webhook_id in (select webhook_id from due) as more, false as busy from settled
union all
select id, webhook_id, true, true from busy`,
)

type SettlementRow = { id: number; webhook_id: string; more: boolean; busy: boolean }
type Settlement = { lanes: (SettledLane & { lease: string })[]; attempts: NewAttempt[]; now: string }

/**
 * Settles lanes in one statement. A lane whose lease was lost stays unchanged. Returns the lanes that were still held, and whether their webhooks have more to do.
 * A lane that another transaction is writing to is returned as busy instead of waited for, because waiting could deadlock.
 */
export const settleLanes = async (db: Db, { lanes, attempts, now }: Settlement) => {
  const values = [
    lanes.map((lane) => lane.id),
    lanes.map((lane) => lane.lease),
    lanes.map((lane) => lane.head),
    lanes.map((lane) => lane.attempts),
    lanes.map((lane) => lane.run_at),
    now,
    ...attemptColumns.map((column) => attempts.map((attempt) => attempt[column])),
  ]
  return (await db.executeQuery<SettlementRow>(CompiledQuery.raw(settleStatement, values))).rows
}

/** Records an attempt for a message outside any lane. */
export const logAttempt = (db: Db, attempt: NewAttempt) => settleLanes(db, { lanes: [], attempts: [attempt], now: attempt.at })

/** The first key of the advisory lock that each live worker holds. The second key is its number. */
export const WORKER_LOCK = 4117

/**
 * Frees lanes whose lease expired or whose worker died. A dead worker no longer holds the advisory lock on its number.
 * A lane that a transaction is writing to is left for the next poll, so that the others do not wait for it.
 */
export const freeDeadLanes = (db: Db, now: string) =>
  sql`update lanes set worker = null, lease = null, leased_until = null
      where id in (
        select id from lanes where worker is not null and (leased_until <= ${now} or worker not in (
          select objid::bigint::int from pg_locks where locktype = 'advisory' and classid = ${WORKER_LOCK}
            and database = (select oid from pg_database where datname = current_database())))
        for update skip locked)`.execute(db)

/** Frees the lanes that a worker holds, all of them or those of one claim. */
export const returnLanes = (db: Db, worker: number, lease: string | null = null) =>
  sql`update lanes set worker = null, lease = null, leased_until = null
      where worker = ${worker} and (${lease}::uuid is null or lease = ${lease})`.execute(db)

export const NOTIFY_CHANNEL = 'assay_events'

/** An empty list means that any webhook may have work. */
export const notifyWorkers = (db: Db, webhook_ids: string[]) => sql`select pg_notify(${NOTIFY_CHANNEL}, ${webhook_ids.join()})`.execute(db)
