import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'

/** Recorded ends of chains, each with the hash of its row. */
export const listEnds = (db: Db, after: string | undefined, limit: number) =>
  db
    .selectFrom('audit_chains as head')
    .leftJoin('audit_log as row', (join) => join.onRef('row.chain_id', '=', 'head.chain_id').onRef('row.chain_seq', '=', 'head.seq'))
    .select(['head.chain_id', 'head.seq', 'head.mac', 'row.chain_hash as hash'])
    .$if(after !== undefined, (query) => query.where('head.chain_id', '>', after as string))
    .orderBy('head.chain_id')
    .limit(limit)
    .modifyEnd(anyTeam('audit chains'))
    .execute()
