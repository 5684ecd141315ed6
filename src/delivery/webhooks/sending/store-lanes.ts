import { sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import { type Db, parameterList, prepareSearch, prepareStatement, runPrepared } from '../../../platform/db/open.ts'
import { type WebhookRef, webhookRef } from '../../../platform/webhook-ref.ts'

/** A lane is a delivery queue of one webhook, and its messages are sent in order. `revision` is that of the webhook at the time of the claim. */
export type Lane = { id: string; webhook_id: string; revision: number; key: string; head: number; attempts: number }

const workQuery = (_: Db, now: string) => sql<{ team_id: string; id: string }>`
  select ${anyTeam('webhooks with due messages')} w.team_id, w.id from webhooks w
  where w.disabled_at is null and (w.paused_until is null or w.paused_until <= ${now}) and exists (
    select from lanes l where l.team_id = w.team_id and l.webhook_id = w.id and l.run_at <= ${now} and l.worker is null
  )`

const webhooksWithWork = prepareSearch('webhooks_with_work', workQuery)

/** Finds webhooks of any team with due lanes, and claims of lanes, whose worker may be dead. */
export const searchLanes = (db: Db, now: string) => sql`
  select team_id from (${workQuery(db, now)} order by w.team_id, w.id) due
  union all
  select team_id from (select team_id from lanes where worker is not null order by team_id, webhook_id) claimed`

/** Webhooks of any team with due lanes. */
export const listWebhooksWithWork = async (db: Db, now: string): Promise<WebhookRef[]> =>
  (await webhooksWithWork(db, now)).map(({ team_id, id }) => webhookRef(team_id, id))

const claimStatement = prepareStatement('claim_lanes', `select * from claim_lanes(${parameterList(9)})`)

type Claim = {
  webhook_ids: string[]
  now: string
  worker: string
  lease: string
  limit: number
  per_webhook: number
  messages_per_lane: number
  /** Consecutive failures after which only one message at a time is sent. */
  breaker_threshold: number
}

/**
 * Claims lanes of a team with their first messages in order, per webhook as many as its health, rate and share allow.
 * A message whose user was erased has no payload.
 */
export async function claimLanes(db: Db, team_id: string, claim: Claim) {
  const { webhook_ids, now, worker, lease, limit, per_webhook, messages_per_lane, breaker_threshold } = claim
  const values = [team_id, webhook_ids, now, worker, lease, limit, per_webhook, messages_per_lane, breaker_threshold]
  const rows = await runPrepared<ClaimedRow>(db, claimStatement, values)
  return [...Map.groupBy(rows, ({ lane_id }) => lane_id).values()].map((rows) => ({
    lane: laneOf(rows[0] as ClaimedRow),
    messages: rows.flatMap((row) => (row.n === null ? [] : [{ ...row, team_id } as Message])),
  }))
}

const laneOf = ({ lane_id, webhook_id, revision, key, head, attempts }: ClaimedRow): Lane => ({
  id: lane_id,
  webhook_id,
  revision,
  key,
  head,
  attempts,
})

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

type ClaimedRow = Omit<Lane, 'id'> & { lane_id: string } & { [F in Exclude<keyof Message, 'team_id' | 'key'>]: Message[F] | null }

export type SettledLane = { id: string; head: number; attempts: number; run_at: string | null }
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

/** The columns of attempts in the order of the arguments of settle_lanes. The last argument is the ciphertext. */
export const attemptColumns = [
  ...(['id', 'at', 'webhook_id', 'user_id', 'event_id', 'event_at', 'event_type', 'key', 'n'] as const),
  ...(['attempt', 'outcome', 'status', 'error', 'ms', 'next_at'] as const),
] satisfies (keyof NewAttempt)[]

/** The team, the time, and five columns of the lanes. */
const LANE_PARAMETERS = 7
const settleParameters = parameterList(LANE_PARAMETERS + attemptColumns.length + 1)
const settleStatement = prepareStatement('settle_lanes', `select * from settle_lanes(${settleParameters})`)

type SettlementRow = { lane_id: string; webhook_id: string; more: boolean; busy: boolean }
type Settlement = { lanes: (SettledLane & { lease: string })[]; attempts: NewAttempt[]; now: string }

/**
 * Settles lanes of a team. A lane whose lease was lost stays unchanged, so repeating a settlement changes nothing. Returns the lanes
 * that were still held, and whether their webhooks have more to do. A lane that another transaction is writing to is busy.
 */
export const settleLanes = (db: Db, team_id: string, { lanes, attempts, now }: Settlement) => {
  const values = [
    team_id,
    now,
    lanes.map((lane) => lane.id),
    lanes.map((lane) => lane.lease),
    lanes.map((lane) => lane.head),
    lanes.map((lane) => lane.attempts),
    lanes.map((lane) => lane.run_at),
    ...[...attemptColumns, 'sealed' as const].map((column) => attempts.map((attempt) => attempt[column])),
  ]
  return runPrepared<SettlementRow>(db, settleStatement, values)
}

/** Records an attempt for a message outside any lane. */
export const logAttempt = (db: Db, attempt: NewAttempt) =>
  settleLanes(db, attempt.team_id, { lanes: [], attempts: [attempt], now: attempt.at })

/** The claims of lanes of any team, by their lease. */
export const listClaims = prepareSearch(
  'lane_claims',
  () => sql<{ team_id: string; worker: string; lease: string }>`
    select ${anyTeam('claims of lanes')} distinct team_id, worker, lease from lanes where worker is not null`,
)

/** Frees the lanes of a team that are claimed with these leases. A lane that a transaction is writing to is left for the next time. */
export const freeLanes = (db: Db, team_id: string, leases: string[]) =>
  sql`
    update lanes set worker = null, lease = null where team_id = ${team_id} and id in (
      select id from lanes where team_id = ${team_id} and worker is not null and lease = any(${leases}::uuid[]) for update skip locked
    )`.execute(db)
