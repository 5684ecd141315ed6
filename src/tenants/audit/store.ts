import { type Insertable, type Selectable, sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { type Db, prepareSearch } from '../../platform/db/open.ts'
import { auditColumns, type NewAuditRow, writeAuditRow } from '../../platform/db/request-rows.ts'
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

/** Finds unchained rows of any team. */
export const searchUnchained = () => sql`
  select ${anyTeam('unchained audit rows')} chain_id from audit_log where chain_seq is null order by chain_id, at`

const unchainedQuery = (db: Db, limit: number) =>
  db
    .selectFrom('audit_log as row')
    .leftJoin('audit_chains as head', 'head.chain_id', 'row.chain_id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('audit_log as chained')
          .select('chained.chain_hash')
          .whereRef('chained.chain_id', '=', 'row.chain_id')
          .whereRef('chained.chain_seq', '=', 'head.seq')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .select(auditColumns.map((column) => `row.${column}` as const))
    .select(['head.seq', 'head.mac', 'last.chain_hash as hash'])
    .where('row.chain_seq', 'is', null)
    .orderBy('row.chain_id')
    .orderBy('row.at')
    .orderBy('row.id')
    .limit(limit)
    .modifyEnd(anyTeam('unchained audit rows'))

const firstUnchained = prepareSearch('unchained_audit_rows', unchainedQuery)

/**
 * Unchained rows of any team, by chain and then oldest first, from the chain that follows `after`. Each has the recorded end of
 * its chain and the hash of the row there, read in one statement.
 */
export const listUnchained = (db: Db, after: string | undefined, limit: number) =>
  after === undefined ? firstUnchained(db, limit) : unchainedQuery(db, limit).where('row.chain_id', '>', after).execute()

type Extension = { chain_id: string; from_seq: number; ids: string[]; hashes: Buffer[]; mac: Buffer }

/** Returns false if another process extended the chain first. */
export async function extendChain(db: Db, { chain_id, from_seq, ids, hashes, mac }: Extension) {
  const { rows } = await sql<{ linked: boolean }>`
    select link_audit(${chain_id}, ${from_seq}, ${ids}::uuid[], ${hashes}::bytea[], ${mac}) as linked`.execute(db)
  return rows[0]?.linked === true
}

const chainsIn = (chain_ids: string[]) => sql<string>`any(${chain_ids}::uuid[])`

/** Without IDs it counts the rows of any team. */
export const countUnchained = (db: Db, chain_ids?: string[]) =>
  db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('chain_seq', 'is', null)
    .$if(chain_ids !== undefined, (query) => query.where('chain_id', '=', chainsIn(chain_ids as string[])))
    .modifyEnd(anyTeam('unchained audit rows'))
    .executeTakeFirstOrThrow()

/** Recorded ends with the last chained row of each chain, read in one statement: those with the IDs, or of any team. */
export const listHeads = (db: Db, after: string | undefined, limit: number, chain_ids?: string[]) =>
  db
    .selectFrom('audit_chains as head')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('audit_log as chained')
          .select('chained.chain_seq')
          .whereRef('chained.chain_id', '=', 'head.chain_id')
          .where('chained.chain_seq', 'is not', null)
          .orderBy('chained.chain_seq', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .select(['head.chain_id', 'head.seq', 'head.mac', 'last.chain_seq as last'])
    .$if(after !== undefined, (query) => query.where('head.chain_id', '>', after as string))
    .$if(chain_ids !== undefined, (query) => query.where('head.chain_id', '=', chainsIn(chain_ids as string[])))
    .orderBy('head.chain_id')
    .limit(limit)
    .modifyEnd(anyTeam('audit chains'))
    .execute()

/** The chains among the IDs that have a recorded end. */
export const findRecorded = (db: Db, chain_ids: string[]) =>
  db.selectFrom('audit_chains').select('chain_id').where('chain_id', '=', chainsIn(chain_ids)).modifyEnd(anyTeam('audit chains')).execute()

/** Rows of a chain by their IDs. */
export const findRows = (db: Db, chain_id: string, ids: string[]) =>
  db.selectFrom('audit_log').select(['chain_id', 'id', 'action']).where('chain_id', '=', chain_id).where('id', '=', chainsIn(ids)).execute()

export const listChained = (db: Db, chain_id: string, after: number, last: number, limit: number) =>
  db
    .selectFrom('audit_log')
    .selectAll()
    .where('chain_id', '=', chain_id)
    .where('chain_seq', '>', after)
    .where('chain_seq', '<=', last)
    .orderBy('chain_seq')
    .limit(limit)
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
