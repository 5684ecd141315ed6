import type { Insertable } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

/** Chains that are new, that are read in part, or whose last review is old, and how far each was read. The oldest are first. */
export const listDue = (db: Db, before: string, limit: number) =>
  db
    .selectFrom('audit_chains as head')
    .leftJoin('audit_reviews as review', 'review.chain_id', 'head.chain_id')
    .select(['head.chain_id', 'review.seq'])
    .where((eb) => eb.or([eb('review.seq', 'is', null), eb('review.seq', '>', 0), eb('review.reviewed_at', '<', before)]))
    .orderBy('review.reviewed_at', (order) => order.asc().nullsFirst())
    .orderBy('head.chain_id')
    .limit(limit)
    .modifyEnd(anyTeam('audit chains'))
    .execute()

export const putReviews = (db: Db, rows: Insertable<Tables['audit_reviews']>[]) =>
  db
    .insertInto('audit_reviews')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('chain_id').doUpdateSet((eb) => ({ seq: eb.ref('excluded.seq'), reviewed_at: eb.ref('excluded.reviewed_at') })),
    )
    .execute()
