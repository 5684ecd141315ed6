import { sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { type Db, prepareSearch, prepareStatement, run } from '../../platform/db/open.ts'
import { auditColumns, type NewAuditRow } from '../../platform/db/rows/request-rows.ts'

/** Finds unlinked rows of any team. */
export const searchUnlinked = () => sql`
  select ${anyTeam('unlinked audit rows')} chain_id from audit_outbox order by chain_id, id`

/** The last row of the chain that a column names. */
export const lastRowOf = (chain_id: 'head.chain_id' | 'row.chain_id') =>
  sql<{ chain_seq: number; chain_hash: Buffer }>`(
    select linked.chain_seq, linked.chain_hash from audit_log as linked
    where linked.chain_id = ${sql.ref(chain_id)} order by linked.chain_seq desc limit 1
  )`.as('last')

const endColumns = ['head.seq as head_seq', 'head.mac as head_mac', 'last.chain_seq as last_seq', 'last.chain_hash as last_hash'] as const

/** The recorded end of a chain and its last row. */
export type Chain = {
  chain_id: string
  head_seq: number | null
  head_mac: Buffer | null
  last_seq: number | null
  last_hash: Buffer | null
}

const rowColumns = auditColumns.map((column) => `row.${column}` as const)

const unlinkedQuery = (db: Db, limit: number) =>
  db
    .selectFrom('audit_outbox as row')
    .leftJoin('audit_chains as head', 'head.chain_id', 'row.chain_id')
    .leftJoinLateral(lastRowOf('row.chain_id'), (join) => join.onTrue())
    .select([...rowColumns, ...endColumns])
    .orderBy('row.chain_id')
    .orderBy('row.id')
    .limit(limit)
    .modifyEnd(anyTeam('unlinked audit rows'))

const firstUnlinked = prepareSearch('unlinked_audit_rows', unlinkedQuery)

/**
 * Unlinked rows of any team, by chain and then oldest first, from the chain that follows `after`. Each has the end of its chain, read
 * in one statement.
 */
export const listUnlinked = (db: Db, after: string | undefined, limit: number) =>
  after === undefined ? firstUnlinked(db, limit) : unlinkedQuery(db, limit).where('row.chain_id', '>', after).execute()

/**
 * Unlinked rows of a chain. `is_linked` marks a row that was inserted again after it was linked. Any other row with the ID of a linked
 * one is not Assay's, and stays in the outbox.
 */
export const listUnlinkedBeside = (db: Db, chain_id: string, limit: number) =>
  db
    .selectFrom('audit_outbox as row')
    .leftJoin('audit_log as linked', (join) => join.onRef('linked.chain_id', '=', 'row.chain_id').onRef('linked.id', '=', 'row.id'))
    .select(rowColumns)
    .select((eb) => eb('linked.id', 'is not', null).as('is_linked'))
    .where('row.chain_id', '=', chain_id)
    .where((eb) => eb.or([eb('linked.id', 'is', null), eb('linked.mac', '=', eb.ref('row.mac'))]))
    .orderBy('row.id')
    .limit(limit)
    .execute()

export async function findChain(db: Db, chain_id: string): Promise<Chain> {
  const found = await db
    .selectFrom('audit_chains as head')
    .leftJoinLateral(lastRowOf('head.chain_id'), (join) => join.onTrue())
    .select(['head.chain_id', ...endColumns])
    .where('head.chain_id', '=', chain_id)
    .executeTakeFirst()
  if (found) return found
  const last = await findLast(db, chain_id)
  return { chain_id, head_seq: null, head_mac: null, last_seq: last?.chain_seq ?? null, last_hash: last?.chain_hash ?? null }
}

/** The last row of a chain. */
export const findLast = (db: Db, chain_id: string) =>
  db
    .selectFrom('audit_log')
    .select(['chain_seq', 'chain_hash'])
    .where('chain_id', '=', chain_id)
    .orderBy('chain_seq', 'desc')
    .limit(1)
    .executeTakeFirst()

const linkStatement = prepareStatement('link_audit', 'select link_audit($1, $2, $3, $4, $5, $6) as linked')

type Extension = { chain_id: string; from_seq: number; ids: string[]; hashes: Buffer[]; mac: Buffer; duplicates: string[] }

/** Returns false if another process extended the chain first. */
export async function extendChain(db: Db, { chain_id, from_seq, ids, hashes, mac, duplicates }: Extension) {
  const [row] = await run<{ linked: boolean }>(db, linkStatement, [chain_id, from_seq, ids, hashes, mac, duplicates])
  return row?.linked === true
}

type NewEnd = { chain_id: string; from_mac: Buffer | null; seq: number; mac: Buffer }

/** Replaces the recorded end of a chain, or records the first one. Returns false if another process did it first. */
export async function resetEnd(db: Db, { chain_id, from_mac, seq, mac }: NewEnd) {
  const { rows } = await sql<{ done: boolean }>`select reset_audit(${chain_id}, ${from_mac}, ${seq}, ${mac}) as done`.execute(db)
  return rows[0]?.done === true
}

/** Remembers that the end of the chain is in a checkpoint. */
export const markCheckpoint = (db: Db, chain_id: string, seq: number) => sql`select checkpoint_audit(${chain_id}, ${seq})`.execute(db)

/** Inserts a row with its place in the chain. */
export const insertLinked = (db: Db, row: NewAuditRow, { seq, hash }: { seq: number; hash: Buffer }) =>
  db
    .insertInto('audit_log')
    .values({ ...row, chain_seq: seq, chain_hash: hash })
    .execute()
