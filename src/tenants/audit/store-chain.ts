import { sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { type Db, prepareSearch } from '../../platform/db/open.ts'
import { auditColumns, type NewAuditRow } from '../../platform/db/rows/request-rows.ts'

/** Finds unchained rows of any team. */
export const searchUnchained = () => sql`
  select ${anyTeam('unchained audit rows')} chain_id from audit_log where chain_seq is null order by chain_id, at`

/** The last row of the chain that a column names. */
export const lastRowOf = (chain_id: 'head.chain_id' | 'row.chain_id') =>
  sql<{ chain_seq: number; chain_hash: Buffer | null }>`(
    select chained.chain_seq, chained.chain_hash from audit_log as chained
    where chained.chain_id = ${sql.ref(chain_id)} and chained.chain_seq is not null order by chained.chain_seq desc limit 1
  )`.as('last')

const unchainedQuery = (db: Db, limit: number) =>
  db
    .selectFrom('audit_log as row')
    .leftJoin('audit_chains as head', 'head.chain_id', 'row.chain_id')
    .leftJoinLateral(lastRowOf('row.chain_id'), (join) => join.onTrue())
    .select(auditColumns.map((column) => `row.${column}` as const))
    .select(['head.seq as head_seq', 'head.mac as head_mac', 'last.chain_seq as last_seq', 'last.chain_hash as last_hash'])
    .where('row.chain_seq', 'is', null)
    .orderBy('row.chain_id')
    .orderBy('row.at')
    .orderBy('row.id')
    .limit(limit)
    .modifyEnd(anyTeam('unchained audit rows'))

const firstUnchained = prepareSearch('unchained_audit_rows', unchainedQuery)

/**
 * Unchained rows of any team, by chain and then oldest first, from the chain that follows `after`. Each has the recorded end of
 * its chain and the last row of it, read in one statement.
 */
export const listUnchained = (db: Db, after: string | undefined, limit: number) =>
  after === undefined ? firstUnchained(db, limit) : unchainedQuery(db, limit).where('row.chain_id', '>', after).execute()

/** The recorded end of a chain and its last row. */
export const findEnd = (db: Db, chain_id: string) =>
  db
    .selectFrom('audit_chains as head')
    .leftJoinLateral(lastRowOf('head.chain_id'), (join) => join.onTrue())
    .select(['head.chain_id', 'head.seq', 'head.mac', 'last.chain_hash as hash'])
    .where('head.chain_id', '=', chain_id)
    .executeTakeFirst()

type Extension = { chain_id: string; from_seq: number; ids: string[]; hashes: Buffer[]; mac: Buffer }

/** Returns false if another process extended the chain first. */
export async function extendChain(db: Db, { chain_id, from_seq, ids, hashes, mac }: Extension) {
  const { rows } = await sql<{ linked: boolean }>`
    select link_audit(${chain_id}, ${from_seq}, ${ids}::uuid[], ${hashes}::bytea[], ${mac}) as linked`.execute(db)
  return rows[0]?.linked === true
}

type NewEnd = { chain_id: string; from_mac: Buffer | null; seq: number; mac: Buffer }

/** Replaces the recorded end of a chain, or records the first one. Returns false if another process did it first. */
export async function resetEnd(db: Db, { chain_id, from_mac, seq, mac }: NewEnd) {
  const { rows } = await sql<{ done: boolean }>`select reset_audit(${chain_id}, ${from_mac}, ${seq}, ${mac}) as done`.execute(db)
  return rows[0]?.done === true
}

/** Inserts the first row of a segment with its place in the chain. */
export const insertLinked = (db: Db, row: NewAuditRow, { seq, hash }: { seq: number; hash: Buffer }) =>
  db
    .insertInto('audit_log')
    .values({ ...row, chain_seq: seq, chain_hash: hash })
    .execute()

/** When the database learned to keep MACs. Undefined while the migration of that is missing. */
export async function findMacsSince(db: Db) {
  const { rows } = await sql<{ ran_at: string }>`select ran_at from migrations where name = '0008_audit.sql'`.execute(db)
  return rows[0]?.ran_at
}
