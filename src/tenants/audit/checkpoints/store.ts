import { sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'

/** Recorded ends of any team with their rows, by the ID of the chain. */
export const listEnds = (db: Db, after: string | undefined, limit: number) =>
  db
    .selectFrom('audit_chains as head')
    .innerJoin('audit_log as row', (join) => join.onRef('row.chain_id', '=', 'head.chain_id').onRef('row.chain_seq', '=', 'head.seq'))
    .select(['head.chain_id', 'head.seq', 'head.mac', 'head.checkpoint_seq', 'row.chain_hash as hash'])
    .$if(after !== undefined, (query) => query.where('head.chain_id', '>', after as string))
    .orderBy('head.chain_id')
    .limit(limit)
    .modifyEnd(anyTeam('audit chains'))
    .execute()

/** Remembers that the end of the chain is in a checkpoint. */
export const markCheckpoint = (db: Db, chain_id: string, seq: number) => sql`select checkpoint_audit(${chain_id}, ${seq})`.execute(db)

/** The hashes at some positions of a chain. */
export const findHashes = (db: Db, chain_id: string, seqs: number[]) =>
  db
    .selectFrom('audit_log')
    .select(['chain_seq', 'chain_hash'])
    .where('chain_id', '=', chain_id)
    .where('chain_seq', '=', sql<number>`any(${seqs}::bigint[])`)
    .execute()
