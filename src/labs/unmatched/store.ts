import { type Insertable, type Selectable, sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { descendingPage, rankedPage } from '../../platform/db/page.ts'
import { readLargeBytes } from '../../platform/db/rows/large-bytes.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type ReviewRow = Omit<Selectable<Tables['unmatched_results']>, 'documents_sealed'>

/** Returns whether the result is new. */
export const insertReview = async (db: Db, row: Insertable<Tables['unmatched_results']>) =>
  (await db
    .insertInto('unmatched_results')
    .values(row)
    .onConflict((conflict) => conflict.columns(['team_id', 'digest']).doNothing())
    .returning('id')
    .executeTakeFirst()) !== undefined

export const requireByDigest = (db: Db, team_id: string, digest: Buffer) =>
  db.selectFrom('unmatched_results').select('id').where('team_id', '=', team_id).where('digest', '=', digest).executeTakeFirstOrThrow()

export const insertUnassigned = async (db: Db, row: Insertable<Tables['unassigned_results']>) =>
  (await db
    .insertInto('unassigned_results')
    .values(row)
    .onConflict((conflict) => conflict.column('digest').doNothing())
    .returning('id')
    .executeTakeFirst()) !== undefined

export const requireUnassigned = (db: Db, digest: Buffer) =>
  db.selectFrom('unassigned_results').select('id').where('digest', '=', digest).executeTakeFirstOrThrow()

type Filter = {
  decision_code?: string | null | undefined
  lab_slug?: string | null | undefined
  status?: string | null | undefined
  created_from?: string | undefined
  created_before?: string | undefined
  terms?: string[] | undefined
}

const reviews = (db: Db, team_id: string) =>
  db
    .selectFrom('unmatched_results')
    .innerJoin('labs', 'labs.id', 'unmatched_results.lab_id')
    .where('unmatched_results.team_id', '=', team_id)

const filtered = (db: Db, team_id: string, filter: Filter) =>
  reviews(db, team_id)
    .$if(!!filter.decision_code, (query) => query.where('unmatched_results.decision_code', '=', filter.decision_code as string))
    .$if(!!filter.status, (query) => query.where('unmatched_results.status', '=', filter.status as string))
    .$if(!!filter.lab_slug, (query) =>
      query.where(sql<boolean>`(labs.slug = ${filter.lab_slug} or ${filter.lab_slug} = any(labs.aliases))`),
    )
    .$if(!!filter.created_from, (query) => query.where('unmatched_results.created_at', '>=', filter.created_from as string))
    .$if(!!filter.created_before, (query) => query.where('unmatched_results.created_at', '<', filter.created_before as string))
    .$if(filter.terms !== undefined, (query) => query.where(sql<boolean>`unmatched_results.terms @> ${filter.terms}::text[]`))

export type LoadedReview = ReviewRow & { lab_name: string; lab_slug: string }

/** Without the PDFs. */
const columns = (
  [
    ...(['team_id', 'id', 'lab_id', 'user_id', 'order_id', 'status', 'decision_code', 'sub_reason_codes', 'result_status'] as const),
    ...(['interpretation', 'resolution_action', 'message_ref', 'digest', 'sealed', 'terms', 'created_at', 'updated_at'] as const),
    'reviewed_at',
  ] as const
).map((name) => `unmatched_results.${name}` as const)

const listed = (db: Db, team_id: string, filter: Filter) =>
  filtered(db, team_id, filter).select(columns).select(['labs.name as lab_name', 'labs.slug as lab_slug'])

type ListedReview = LoadedReview & { rank?: number }

export const listReviews = (db: Db, team_id: string, filter: Filter, page: Page): Promise<ListedReview[]> =>
  listed(db, team_id, filter)
    .$call(descendingPage(page, 'unmatched_results.created_at', 'unmatched_results.id'))
    .execute()

const reviewRank = sql<number>`case when unmatched_results.interpretation = 'critical' and unmatched_results.status <> 'resolved' then 1 else 0 end`

/** One page of reviews, pending critical results first. */
export const listReviewsByRank = (db: Db, team_id: string, filter: Filter, page: Page): Promise<ListedReview[]> =>
  listed(db, team_id, filter)
    .select(reviewRank.as('rank'))
    .$call(rankedPage(page, reviewRank, 'unmatched_results.created_at', 'unmatched_results.id', 'desc'))
    .execute()

export const countReviews = async (db: Db, team_id: string, filter: Filter) =>
  Number(
    (
      await filtered(db, team_id, filter)
        .select((eb) => eb.fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  )

export const findReview = (db: Db, team_id: string, id: string): Promise<LoadedReview | undefined> =>
  reviews(db, team_id)
    .select(columns)
    .select(['labs.name as lab_name', 'labs.slug as lab_slug'])
    .where('unmatched_results.id', '=', id)
    .executeTakeFirst()

/** The PDFs of a result. */
export const readPdfs = async (db: Db, team_id: string, id: string) =>
  (await readLargeBytes(db, 'unmatched_results', { team_id, id }, 'documents_sealed')) ?? null

/** Locks the review until the transaction ends. */
export const lockReview = (db: Db, team_id: string, id: string) =>
  db.selectFrom('unmatched_results').select('id').where('team_id', '=', team_id).where('id', '=', id).forUpdate().executeTakeFirst()

type Resolution = Pick<ReviewRow, 'status' | 'resolution_action' | 'user_id' | 'order_id' | 'sealed' | 'updated_at' | 'reviewed_at'> & {
  documents_sealed?: Buffer | null
}

export const updateReview = (db: Db, team_id: string, id: string, change: Resolution) =>
  db.updateTable('unmatched_results').set(change).where('team_id', '=', team_id).where('id', '=', id).execute()

export async function deleteReviewsOf(db: Db, team_id: string) {
  await db.deleteFrom('unmatched_results').where('team_id', '=', team_id).execute()
  await db.deleteFrom('unmatched_result_tests').where('team_id', '=', team_id).execute()
}

export const insertRun = (db: Db, row: Insertable<Tables['unmatched_result_tests']>) =>
  db.insertInto('unmatched_result_tests').values(row).execute()

export const findRun = (db: Db, team_id: string, id: string) =>
  db.selectFrom('unmatched_result_tests').select('run').where('team_id', '=', team_id).where('id', '=', id).executeTakeFirst()

const unassignedRank = sql<number>`case when interpretation = 'critical' then 0 else 1 end`

/** Critical results first, then the oldest. */
const unassigned = (db: Db, page: Page) =>
  db
    .selectFrom('unassigned_results')
    .innerJoin('labs', 'labs.id', 'unassigned_results.lab_id')
    .select(['unassigned_results.id', 'labs.slug as lab', 'result_status', 'interpretation', 'message_ref', 'created_at'])
    .select(unassignedRank.as('rank'))
    .where('assigned_at', 'is', null)
    .$call(rankedPage(page, unassignedRank, 'created_at', 'unassigned_results.id', 'asc'))

export const listUnassigned = (db: Db, page: Page) => unassigned(db, page).execute()

/** One page with the summary that the operator sees. */
export const listUnassignedWithSummary = (db: Db, page: Page) =>
  unassigned(db, page).select(['lab_id', 'labs.name as lab_name', 'summary_sealed']).execute()

/** The encrypted report of a result, or its PDFs. */
export const readUnassigned = (db: Db, id: string, column: 'sealed' | 'documents_sealed') =>
  readLargeBytes(db, 'unassigned_results', { id }, column)

export const lockUnassigned = (db: Db, id: string) =>
  db
    .selectFrom('unassigned_results')
    .select(['id', 'sealed', 'message_ref', 'assigned_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

/** The copy of the team replaces the report. */
export const markAssigned = (db: Db, id: string, assigned_team_id: string, assigned_at: string) =>
  db
    .updateTable('unassigned_results')
    .set({ assigned_at, assigned_team_id, sealed: Buffer.alloc(0), documents_sealed: null, summary_sealed: Buffer.alloc(0) })
    .where('id', '=', id)
    .execute()

type PendingCount = { queue: 'team' | 'operator'; interpretation: string; count: number }

export async function countPending(db: Db): Promise<PendingCount[]> {
  const ofTeams = await db
    .selectFrom('unmatched_results')
    .select((eb) => ['interpretation', eb.fn.countAll<number>().as('count')])
    .where('status', 'like', 'pending%')
    .groupBy('interpretation')
    .modifyEnd(anyTeam('unmatched results to review'))
    .execute()
  const ofOperator = await db
    .selectFrom('unassigned_results')
    .select((eb) => ['interpretation', eb.fn.countAll<number>().as('count')])
    .where('assigned_at', 'is', null)
    .groupBy('interpretation')
    .execute()
  const inQueue = (queue: PendingCount['queue'], rows: typeof ofTeams) =>
    rows.map(({ interpretation, count }) => ({ queue, interpretation, count: Number(count) }))
  return [...inQueue('team', ofTeams), ...inQueue('operator', ofOperator)]
}
