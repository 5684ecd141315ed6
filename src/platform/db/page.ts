import { type SelectQueryBuilder, sql } from 'kysely'
import type { Page } from '../paging.ts'

/** One page of a query, oldest first, plus one row that tells whether there is a next page. */
export const ascendingPage =
  (page: Page, at: string, id: string) =>
  <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>) =>
    query
      .$if(page.after !== undefined, (query) =>
        query.where(sql<boolean>`(${sql.ref(at)}, ${sql.ref(id)}) > (${page.after?.at}::timestamptz, ${page.after?.id}::uuid)`),
      )
      .orderBy(sql.ref(at))
      .orderBy(sql.ref(id))
      .limit(page.limit + 1)

/** The same, newest first. */
export const descendingPage =
  (page: Page, at: string, id: string) =>
  <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>) =>
    query
      .$if(page.after !== undefined, (query) =>
        query.where(sql<boolean>`(${sql.ref(at)}, ${sql.ref(id)}) < (${page.after?.at}::timestamptz, ${page.after?.id}::uuid)`),
      )
      .orderBy(sql.ref(at), 'desc')
      .orderBy(sql.ref(id), 'desc')
      .limit(page.limit + 1)
