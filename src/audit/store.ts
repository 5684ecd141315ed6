import { type Insertable, sql } from 'kysely'
import type { Db } from '../db/open.ts'
import type { Tables } from '../db/tables.ts'

export type NewAuditRow = Omit<Insertable<Tables['audit_log']>, 'chain_seq' | 'chain_hash'>

export const insertRows = (db: Db, rows: NewAuditRow[]) => db.insertInto('audit_log').values(rows).execute()

const LOCK = 4_117_202_602

/** Answers whether the chain is ours until the transaction ends. */
export async function lockChain(db: Db) {
  const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${LOCK}) as mine`.execute(db)
  return rows[0]?.mine === true
}

/** The end of the chain as it was recorded, the hash of the row there, and the last row that there is, read at one moment. */
export const recordedEnd = (db: Db) =>
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

export const unchained = (db: Db, limit: number) =>
  db.selectFrom('audit_log').selectAll().where('chain_seq', 'is', null).orderBy('at').orderBy('id').limit(limit).execute()

export const countUnchained = (db: Db) =>
  db
    .selectFrom('audit_log')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('chain_seq', 'is', null)
    .executeTakeFirstOrThrow()

export const chainedBetween = (db: Db, after: number, last: number, limit: number) =>
  db
    .selectFrom('audit_log')
    .selectAll()
    .where('chain_seq', '>', after)
    .where('chain_seq', '<=', last)
    .orderBy('chain_seq')
    .limit(limit)
    .execute()

export const setLinks = (db: Db, links: { id: string; seq: number; hash: Buffer }[]) =>
  sql`update audit_log set chain_seq = link.seq, chain_hash = link.hash
      from unnest(${links.map((link) => link.id)}::uuid[], ${links.map((link) => link.seq)}::bigint[], ${links.map((link) => link.hash)}::bytea[])
        as link (id, seq, hash)
      where audit_log.id = link.id`.execute(db)
