import { type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import type { NewAuditRow } from '../../platform/db/request-rows.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export const insertRows = (db: Db, rows: NewAuditRow[]) => db.insertInto('audit_log').values(rows).execute()

const LOCK_ID = 4_117_202_602

/** Returns whether this transaction holds the lock on the chain. */
export async function lockChain(db: Db) {
  const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_xact_lock(${LOCK_ID}) as locked`.execute(db)
  return rows[0]?.locked === true
}

/** The recorded end of the chain, the hash of its row and the last chained row, read in one statement. */
export const findRecordedEnd = (db: Db) =>
  db
    .selectFrom('audit_head')
    .leftJoin('audit_log', 'chain_seq', 'seq')
    .select(['seq', 'mac', 'chain_hash as hash'])
    .select((eb) =>
      eb
        .selectFrom('audit_log')
        .select((eb) => eb.fn.max('chain_seq').as('last'))
        .as('last'),
    )
    .executeTakeFirst()

export const setHead = (db: Db, seq: number, mac: Buffer) =>
  db
    .insertInto('audit_head')
    .values({ seq, mac })
    .onConflict((conflict) => conflict.column('one').doUpdateSet({ seq, mac }))
    .execute()

export const listUnchained = (db: Db, limit: number) =>
  db.selectFrom('audit_log').selectAll().where('chain_seq', 'is', null).orderBy('at').orderBy('id').limit(limit).execute()

export const countUnchained = (db: Db) =>
  db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('chain_seq', 'is', null)
    .executeTakeFirstOrThrow()

export const listChained = (db: Db, after: number, last: number, limit: number) =>
  db
    .selectFrom('audit_log')
    .selectAll()
    .where('chain_seq', '>', after)
    .where('chain_seq', '<=', last)
    .orderBy('chain_seq')
    .limit(limit)
    .execute()

export type AuditFilter = {
  org_id: string
  /** Undefined selects every team and the rows without a team. */
  team_ids: string[] | undefined
  actor_id?: string | null | undefined
  action?: string | null | undefined
  subject_id?: string | null | undefined
  via?: 'console' | 'api' | null | undefined
  revealed?: boolean | null | undefined
  refused?: boolean | null | undefined
  from?: string | null | undefined
  to?: string | null | undefined
}

/**
 * Rows of an organization, newest first. Each team and the rows without a team are read by index, so a page costs the same
 * however long the log is.
 */
export async function listRows(db: Db, filter: AuditFilter, page: Page) {
  const { rows } = await sql<AuditRow>`
    with own as (
      select id from teams where org_id = ${filter.org_id} ${filter.team_ids ? sql`and id = any(${filter.team_ids}::uuid[])` : sql``}
    )
    select * from (
      select a.* from own cross join lateral (
        select * from audit_log where team_id = own.id and org_id = ${filter.org_id} ${conditions(filter, page)} order by at desc, id desc limit ${page.limit + 1}
      ) a
      ${filter.team_ids ? sql`` : sql`union all (select * from audit_log where team_id is null and org_id = ${filter.org_id} ${conditions(filter, page)} order by at desc, id desc limit ${page.limit + 1})`}
    ) found order by at desc, id desc limit ${page.limit + 1}`.execute(db)
  return rows
}

type AuditRow = Selectable<Tables['audit_log']>

function conditions({ actor_id, action, subject_id, via, revealed, refused, from, to }: AuditFilter, { after }: Page) {
  const parts = [
    ...(actor_id ? [sql`and actor_id = ${actor_id}`] : []),
    ...(action ? [sql`and action = ${action}`] : []),
    ...(subject_id ? [sql`and position(${`:${subject_id}`} in subject) > 0`] : []),
    ...(via ? [via === 'console' ? sql`and via = 'console'` : sql`and via is null`] : []),
    ...(revealed ? [sql`and reason is not null and status < 400`] : []),
    ...(refused ? [sql`and status >= 400`] : []),
    ...(from ? [sql`and at >= ${from}::timestamptz`] : []),
    ...(to ? [sql`and at < ${to}::timestamptz`] : []),
    ...(after ? [sql`and (at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`] : []),
  ]
  return parts.length ? sql.join(parts, sql` `) : sql``
}

export const setLinks = (db: Db, links: { id: string; seq: number; hash: Buffer }[]) =>
  sql`update audit_log set chain_seq = link.seq, chain_hash = link.hash
      from unnest(${links.map((link) => link.id)}::uuid[], ${links.map((link) => link.seq)}::bigint[], ${links.map((link) => link.hash)}::bytea[])
        as link (id, seq, hash)
      where audit_log.id = link.id`.execute(db)
