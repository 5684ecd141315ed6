import { type Selectable, sql } from 'kysely'
import type { Format } from '../../../contract/delivery/formats.ts'
import type { CursorPosition, DisclosureCount } from '../../../contract/delivery/log-rows.ts'
import { type Db, parameterList, prepareStatement, run } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

export type CursorRow = Selectable<Tables['webhook_cursors']>

/** A cursor as the owner of its team knows it. */
export type HeldCursor = Pick<CursorRow, 'webhook_id' | 'term' | 'flush'>

/** The cursors of a team for its owner. Those that it does not hold, or that have changed, get a new term. */
export async function takeCursors(db: Db, team_id: string, worker: string, held: HeldCursor[]) {
  const { rows } = await sql<CursorRow>`select * from take_cursors(${team_id}, ${worker}, ${JSON.stringify(held)})`.execute(db)
  return rows
}

/** The webhooks of a team without their secrets. */
export const listWebhooks = (db: Db, team_id: string) =>
  db
    .selectFrom('webhooks')
    .select(['id', 'revision', 'filter_types', 'ordering', 'rate_limit', 'inbox', 'disabled_at', 'failures', 'trips', 'paused_until'])
    .select(['first_failure_at', 'last_failure_at', 'clock_started_at'])
    .where('team_id', '=', team_id)
    .execute()

export type WebhookState = Awaited<ReturnType<typeof listWebhooks>>[number]

export type ParkedKeyRow = { webhook_id: string; key: string; attempts: number; retry_at: string; stored: number }

/** The parked keys of a team with the number of their messages. */
export async function listParkedKeys(db: Db, team_id: string) {
  const { rows } = await sql<ParkedKeyRow>`
    select p.webhook_id, p.key, p.attempts, p.retry_at, (
      select count(*) from parked_messages m where m.team_id = p.team_id and m.webhook_id = p.webhook_id and m.key = p.key
    ) as stored
    from parked p where p.team_id = ${team_id}`.execute(db)
  return rows
}

export const listRunningReplays = (db: Db, team_id: string) =>
  db
    .selectFrom('webhook_jobs')
    .selectAll()
    .where('team_id', '=', team_id)
    .where('state', '=', 'running')
    .where('kind', '=', 'replay')
    .execute()

export type ReplayRow = Awaited<ReturnType<typeof listRunningReplays>>[number]

/** Those of the users that are not erased. */
export async function listUsersWithKey(db: Db, team_id: string, user_ids: string[]) {
  const { rows } = await sql<{ user_id: string }>`
    select user_id from sealing_keys where team_id = ${team_id} and user_id = any(${user_ids}::uuid[])`.execute(db)
  return rows.map(({ user_id }) => user_id)
}

/** The format is null if an earlier version has parked the message. */
type ParkedRow = { parked_key: string; no: number; logged_at: string; previous: number | null; format: Format | null }

type ParkedQuery = { team_id: string; webhook_id: string; keys: string[]; limit: number }

/** The first messages of parked keys, in order. */
export async function listParked(db: Db, { team_id, webhook_id, keys, limit }: ParkedQuery) {
  const { rows } = await sql<ParkedRow>`
    select key as parked_key, no, logged_at, previous, format from (
      select key, no, logged_at, previous, format, row_number() over (partition by key order by no) as n from parked_messages
      where team_id = ${team_id} and webhook_id = ${webhook_id} and key = any(${keys}::text[])
    ) m
    where n <= ${limit} order by no`.execute(db)
  return rows
}

export type NewAttempt = Selectable<Tables['attempts']> & { outcome: 'delivered' | 'retried' | 'exhausted'; sealed: Buffer }

/** The columns of attempts in the order of the arguments of record_outcomes. The last argument is the ciphertext. */
export const attemptColumns = [
  ...(['id', 'at', 'webhook_id', 'user_id', 'event_id', 'event_at', 'no', 'previous', 'event_type', 'key'] as const),
  ...(['attempt', 'outcome', 'status', 'error', 'ms', 'next_at'] as const),
] satisfies (keyof NewAttempt)[]

/** What has happened at one cursor since the last record of it. */
export type CursorChange = {
  cursor: CursorPosition & { webhook_id: string; term: number; flush: number; attempts: number; retry_at: string | null }
  jobs: { id: string; after_no: number; decided: number[]; done: number; sent: number; is_over: boolean; at: string }[]
  parked: { webhook_id: string; key: string; attempts: number; retry_at: string }[]
  messages: { webhook_id: string; key: string; no: number; logged_at: string; previous: number | null; format: Format }[]
  released: { webhook_id: string; key: string; no: number }[]
  removed: { webhook_id: string; key: string }[]
  attempts: NewAttempt[]
  disclosed: DisclosureCount[]
}

/** The team, and six lists of a change. */
const LIST_PARAMETERS = 7
const recordStatement = prepareStatement(
  'record_outcomes',
  `select * from record_outcomes(${parameterList(LIST_PARAMETERS + attemptColumns.length + 1)})`,
)

type Conflict = { webhook_id: string; term: number; flush: number }

/** Records changes of cursors of a team, or none of them. Returns the cursors with another term or number of flushes. */
export function recordOutcomes(db: Db, team_id: string, changes: CursorChange[]) {
  const listOf = (name: Exclude<keyof CursorChange, 'cursor' | 'attempts' | 'disclosed'>) => {
    const rows = changes.flatMap((change): object[] => change[name])
    return rows.length ? JSON.stringify(rows) : null
  }
  const attempts = changes.flatMap((change) => change.attempts)
  return run<Conflict>(db, recordStatement, [
    team_id,
    JSON.stringify(changes.map(({ cursor, disclosed }) => ({ ...cursor, disclosed }))),
    ...(['jobs', 'parked', 'messages', 'released', 'removed'] as const).map(listOf),
    ...[...attemptColumns, 'sealed' as const].map((column) => attempts.map((attempt) => attempt[column])),
  ])
}

/** Records an attempt for a message that is at no cursor. */
export const logAttempt = (db: Db, attempt: NewAttempt) => db.insertInto('attempts').values(attempt).execute()

/** Deletes the versions of filters that the cursors of a team have passed. */
export const deletePassedFilters = (db: Db, team_id: string) =>
  sql`
    delete from webhook_filters f using webhook_cursors c
    where f.team_id = ${team_id} and c.team_id = ${team_id} and c.webhook_id = f.webhook_id and f.upto_no <= c.after_no`.execute(db)
