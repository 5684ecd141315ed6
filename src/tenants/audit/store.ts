import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { type NewAuditRow, writeAuditRow } from '../../platform/db/rows/request-rows.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

/** Most requests write one row, so that has a prepared statement. */
export const insertRows = async (db: Db, rows: NewAuditRow[]) =>
  void (await (rows.length === 1 ? writeAuditRow(db, rows[0] as NewAuditRow) : db.insertInto('audit_log').values(rows).execute()))

/** Inserts a row with a fixed ID; undefined if it exists. A concurrent insert of the same row waits for this transaction. */
export const insertOnce = (db: Db, row: NewAuditRow) =>
  db
    .insertInto('audit_log')
    .values(row)
    .onConflict((conflict) => conflict.columns(['chain_id', 'id']).doNothing())
    .returning('id')
    .executeTakeFirst()

/** Keeps a recorded end that exists. */
export const insertHead = (db: Db, head: Insertable<Tables['audit_chains']>) =>
  db
    .insertInto('audit_chains')
    .values(head)
    .onConflict((conflict) => conflict.column('chain_id').doNothing())
    .execute()

export type AuditFilter = {
  org_id: string
  actor_id?: string | null | undefined
  action?: string | null | undefined
  subject_id?: string | null | undefined
  via?: 'console' | 'api' | null | undefined
  revealed?: boolean | null | undefined
  refused?: boolean | null | undefined
  from?: string | null | undefined
  to?: string | null | undefined
}

/** Rows of an organization in a few chains, newest first. Each chain is read by index, so a page costs the same however long it is. */
export async function listRows(db: Db, chain_ids: string[], filter: AuditFilter, page: Page) {
  const ofChain = (chain_id: string) =>
    sql`(select * from audit_log where chain_id = ${chain_id} and org_id = ${filter.org_id} ${conditions(filter, page)}
      order by at desc, id desc limit ${page.limit + 1})`
  const { rows } = await sql<AuditRow>`
    select * from (${sql.join(chain_ids.map(ofChain), sql` union all `)}) found order by at desc, id desc limit ${page.limit + 1}`.execute(
    db,
  )
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
