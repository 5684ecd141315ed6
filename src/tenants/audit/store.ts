import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { type NewAuditRow, writeAuditRows } from '../../platform/db/rows/request-rows.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { firstIdAt } from '../../platform/db/time-ordered-id.ts'
import type { Page } from '../../platform/paging.ts'

export const insertRows = async (db: Db, rows: NewAuditRow[]) => void (await writeAuditRows(db, rows))

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

/** Linked rows, and unlinked ones, which have no `chain_seq`. */
const sources = [sql`select * from audit_log`, sql`select *, null, null from audit_outbox`]

type AuditRow = Selectable<Tables['audit_outbox']> & { chain_seq: number | null }

/** Rows of an organization in a few chains, newest first. Each chain is read by index, so a page costs the same however long it is. */
export async function listRows(db: Db, chain_ids: string[], filter: AuditFilter, page: Page) {
  const where = sql`and org_id = ${filter.org_id} ${conditions(filter, page)} order by id desc limit ${page.limit + 1}`
  const parts = chain_ids.flatMap((chain_id) => sources.map((source) => sql`(${source} where chain_id = ${chain_id} ${where})`))
  const { rows } = await sql<AuditRow>`
    select * from (${sql.join(parts, sql` union all `)}) found order by id desc limit ${page.limit + 1}`.execute(db)
  return rows
}

/** IDs sort by time, and the index has them. */
function conditions({ actor_id, action, subject_id, via, revealed, refused, from, to }: AuditFilter, { after }: Page) {
  const parts = [
    ...(actor_id ? [sql`and actor_id = ${actor_id}`] : []),
    ...(action ? [sql`and action = ${action}`] : []),
    ...(subject_id ? [sql`and position(${`:${subject_id}`} in subject) > 0`] : []),
    ...(via ? [via === 'console' ? sql`and via = 'console'` : sql`and via is null`] : []),
    ...(revealed ? [sql`and reason is not null and status < 400`] : []),
    ...(refused ? [sql`and status >= 400`] : []),
    ...(from ? [sql`and id >= ${firstIdAt(from)}::uuid`] : []),
    ...(to ? [sql`and id < ${firstIdAt(to)}::uuid`] : []),
    ...(after ? [sql`and id < ${after.id}::uuid`] : []),
  ]
  return parts.length ? sql.join(parts, sql` `) : sql``
}
