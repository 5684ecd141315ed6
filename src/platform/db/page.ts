import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Page } from '../paging.ts'

/** One page of a query, oldest first, plus one row that tells whether there is a next page. */
export const ascendingPage = (page: Page, at: string, id: string) => sortedPage(page, at, id, 'asc')

/** One page of a query, newest first, plus one row. */
export const descendingPage = (page: Page, at: string, id: string) => sortedPage(page, at, id, 'desc')

/** One page by rank, then time: the highest rank first with `desc`, the lowest with `asc`. The cursor begins with the digit of the rank. */
export const rankedPage =
  ({ after, limit }: Page, rank: RawBuilder<number>, at: string, id: string, direction: 'asc' | 'desc') =>
  <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>) =>
    query
      .$if(after !== undefined, (query) =>
        query.where(
          sql<boolean>`(${rank}, ${sql.ref(at)}, ${sql.ref(id)}) ${direction === 'asc' ? sql`>` : sql`<`} (${Number(after?.at[0])}::int, ${after?.at.slice(1)}::timestamptz, ${after?.id}::uuid)`,
        ),
      )
      .orderBy(rank, direction)
      .orderBy(sql.ref(at), direction)
      .orderBy(sql.ref(id), direction)
      .limit(limit + 1)

const sortedPage =
  ({ after, limit }: Page, at: string, id: string, direction: 'asc' | 'desc') =>
  <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>) =>
    query
      .$if(after !== undefined, (query) =>
        query.where(
          sql<boolean>`(${sql.ref(at)}, ${sql.ref(id)}) ${direction === 'asc' ? sql`>` : sql`<`} (${after?.at}::timestamptz, ${after?.id}::uuid)`,
        ),
      )
      .orderBy(sql.ref(at), direction)
      .orderBy(sql.ref(id), direction)
      .limit(limit + 1)
