import { type Insertable, sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { lastRowOf } from './store-chain.ts'

const chainsIn = (chain_ids: string[]) => sql<string>`any(${chain_ids}::uuid[])`

/** Unlinked rows from before a time. Without IDs it counts those of any team. */
export const countUnlinked = (db: Db, before: string, chain_ids?: string[]) =>
  db
    .selectFrom('audit_outbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('at', '<', before)
    .$if(chain_ids !== undefined, (query) => query.where('chain_id', '=', chainsIn(chain_ids as string[])))
    .modifyEnd(anyTeam('unlinked audit rows'))
    .executeTakeFirstOrThrow()

/**
 * Recorded ends with the last row of each chain and the last verification of it, read in one statement: those with the IDs, or of
 * any team.
 */
export const listHeads = (db: Db, after: string | undefined, limit: number, chain_ids?: string[]) =>
  db
    .selectFrom('audit_chains as head')
    .leftJoin('audit_verified as verified', 'verified.chain_id', 'head.chain_id')
    .leftJoinLateral(lastRowOf('head.chain_id'), (join) => join.onTrue())
    .select(['head.chain_id', 'head.seq', 'head.mac', 'last.chain_seq as last'])
    .leftJoin('audit_log as row', (join) =>
      join.onRef('row.chain_id', '=', 'verified.chain_id').onRef('row.chain_seq', '=', 'verified.seq'),
    )
    .select(['verified.seq as verified_seq', 'verified.hash as verified_hash', 'verified.mac as verified_mac'])
    .select('row.chain_hash as current_hash')
    .$if(after !== undefined, (query) => query.where('head.chain_id', '>', after as string))
    .$if(chain_ids !== undefined, (query) => query.where('head.chain_id', '=', chainsIn(chain_ids as string[])))
    .orderBy('head.chain_id')
    .limit(limit)
    .modifyEnd(anyTeam('audit chains'))
    .execute()

/** Recorded ends of chains of any team, each with the hash of its row. */
export const listEnds = (db: Db, after: string | undefined, limit: number) =>
  db
    .selectFrom('audit_chains as head')
    .leftJoin('audit_log as row', (join) => join.onRef('row.chain_id', '=', 'head.chain_id').onRef('row.chain_seq', '=', 'head.seq'))
    .select(['head.chain_id', 'head.seq', 'head.mac', 'head.checkpoint_seq', 'row.chain_hash as hash'])
    .$if(after !== undefined, (query) => query.where('head.chain_id', '>', after as string))
    .orderBy('head.chain_id')
    .limit(limit)
    .modifyEnd(anyTeam('audit chains'))
    .execute()

/** The hashes at some positions of a chain. */
export const findHashes = (db: Db, chain_id: string, seqs: number[]) =>
  db
    .selectFrom('audit_log')
    .select(['chain_seq', 'chain_hash'])
    .where('chain_id', '=', chain_id)
    .where('chain_seq', '=', sql<number>`any(${seqs}::bigint[])`)
    .execute()

/** The chains among the IDs that have a recorded end. */
export const findRecorded = (db: Db, chain_ids: string[]) =>
  db.selectFrom('audit_chains').select('chain_id').where('chain_id', '=', chainsIn(chain_ids)).modifyEnd(anyTeam('audit chains')).execute()

/** The IDs of rows of a chain with an action, in pages or only those among the IDs. */
export const listIds = (
  db: Db,
  { chain_id, action }: { chain_id: string; action: string },
  after: string | undefined,
  limit: number,
  ids?: string[],
) =>
  db
    .selectFrom('audit_log')
    .select('id')
    .where('chain_id', '=', chain_id)
    .where('action', '=', action)
    .$if(after !== undefined, (query) => query.where('id', '>', after as string))
    .$if(ids !== undefined, (query) => query.where('id', '=', chainsIn(ids as string[])))
    .orderBy('id')
    .limit(limit)
    .execute()

/** The next rows of a chain. `after_id` is the last row that was read at `after`. */
export const listChained = (
  db: Db,
  chain_id: string,
  { after, after_id }: { after: number; after_id: string },
  last: number,
  limit: number,
) =>
  db
    .selectFrom('audit_log')
    .selectAll()
    .where('chain_id', '=', chain_id)
    .where('chain_seq', '>=', after)
    .where('chain_seq', '<=', last)
    .where((eb) => eb.or([eb('chain_seq', '>', after), eb('id', '>', after_id)]))
    .orderBy('chain_seq')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Remembers how far a chain was verified. */
export const putVerified = (db: Db, row: Insertable<Tables['audit_verified']>) =>
  db
    .insertInto('audit_verified')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('chain_id').doUpdateSet((eb) => ({
        seq: eb.ref('excluded.seq'),
        hash: eb.ref('excluded.hash'),
        mac: eb.ref('excluded.mac'),
      })),
    )
    .execute()

/** The next verification reads the whole chain. */
export const deleteVerified = (db: Db, chain_id: string) => db.deleteFrom('audit_verified').where('chain_id', '=', chain_id).execute()
