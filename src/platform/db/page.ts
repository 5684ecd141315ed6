import { type SelectQueryBuilder, sql } from 'kysely'
import type { Page } from '../paging.ts'

/** One page of a query, oldest first, plus one row that tells whether there is a next page. */
export const ascendingPage = (page: Page, at: string, id: string) => sortedPage(page, at, id, 'asc')

/** The same, newest first. */
export const descendingPage = (page: Page, at: string, id: string) => sortedPage(page, at, id, 'desc')

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
