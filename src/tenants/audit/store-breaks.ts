import { type Insertable, type Selectable, sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type BreakRow = Selectable<Tables['audit_breaks']>

const chainsIn = (chain_ids: string[]) => sql<string>`any(${chain_ids}::uuid[])`

/** Returns those that were not recorded before. */
export const insertBreaks = (db: Db, rows: Insertable<Tables['audit_breaks']>[]) =>
  db
    .insertInto('audit_breaks')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['chain_id', 'seq', 'to_seq']).doNothing())
    .returning(['chain_id', 'seq', 'to_seq', 'reason'])
    .execute()

/** Recorded breaks of the chains with the IDs, or of any team. */
export const listBreaks = (db: Db, chain_ids?: string[]) =>
  db
    .selectFrom('audit_breaks')
    .selectAll()
    .$if(chain_ids !== undefined, (query) => query.where('chain_id', '=', chainsIn(chain_ids as string[])))
    .orderBy('chain_id')
    .orderBy('seq')
    .orderBy('to_seq')
    .modifyEnd(anyTeam('audit chains'))
    .execute()

/** Counts breaks that nobody acknowledged, of any team. */
export const countOpenBreaks = (db: Db) =>
  db
    .selectFrom('audit_breaks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('acknowledged_at', 'is', null)
    .modifyEnd(anyTeam('audit chains'))
    .executeTakeFirstOrThrow()

/** Finds breaks that nobody was alerted of. */
export const searchUnalerted = () => sql`
  select ${anyTeam('audit chains')} chain_id from audit_breaks
  where acknowledged_at is null and alerted_at is null order by chain_id, found_at`

export const listUnalerted = (db: Db, limit: number) =>
  db
    .selectFrom('audit_breaks')
    .selectAll()
    .where('acknowledged_at', 'is', null)
    .where('alerted_at', 'is', null)
    .orderBy('chain_id')
    .orderBy('found_at')
    .limit(limit)
    .modifyEnd(anyTeam('audit chains'))
    .execute()

export type BreakKey = Pick<BreakRow, 'chain_id' | 'seq' | 'to_seq'>

export const updateBreak = (db: Db, { chain_id, seq, to_seq }: BreakKey, change: Partial<BreakRow>) =>
  db.updateTable('audit_breaks').set(change).where('chain_id', '=', chain_id).where('seq', '=', seq).where('to_seq', '=', to_seq).execute()

/** Returns false if another process did it first. */
export const markAlerted = async (db: Db, { chain_id, seq, to_seq }: BreakKey, alerted_at: string) => {
  const [updated] = await db
    .updateTable('audit_breaks')
    .set({ alerted_at })
    .where('chain_id', '=', chain_id)
    .where('seq', '=', seq)
    .where('to_seq', '=', to_seq)
    .where('alerted_at', 'is', null)
    .returning('seq')
    .execute()
  return updated !== undefined
}

export const deleteBreak = (db: Db, { chain_id, seq, to_seq }: BreakKey) =>
  db.deleteFrom('audit_breaks').where('chain_id', '=', chain_id).where('seq', '=', seq).where('to_seq', '=', to_seq).execute()

/** The team and the organization of the last row of a chain. */
export const findOwner = (db: Db, chain_id: string) =>
  db
    .selectFrom('audit_log')
    .select(['team_id', 'org_id'])
    .where('chain_id', '=', chain_id)
    .orderBy('chain_seq', 'desc')
    .limit(1)
    .executeTakeFirst()
