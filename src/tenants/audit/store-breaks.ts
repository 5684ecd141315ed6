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

type BreakKey = Pick<BreakRow, 'chain_id' | 'seq' | 'to_seq'>

export const updateBreak = (db: Db, { chain_id, seq, to_seq }: BreakKey, change: Partial<BreakRow>) =>
  db.updateTable('audit_breaks').set(change).where('chain_id', '=', chain_id).where('seq', '=', seq).where('to_seq', '=', to_seq).execute()

export const deleteBreak = (db: Db, { chain_id, seq, to_seq }: BreakKey) =>
  db.deleteFrom('audit_breaks').where('chain_id', '=', chain_id).where('seq', '=', seq).where('to_seq', '=', to_seq).execute()

/** The team and the organization of the newest row of a chain. */
export const findOwner = (db: Db, chain_id: string) =>
  db
    .selectFrom('audit_log')
    .select(['team_id', 'org_id'])
    .where('chain_id', '=', chain_id)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
