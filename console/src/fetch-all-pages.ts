import { inBackground, isInBackground } from './api.ts'

type Page = { next_cursor: string | null }

/** Loads a list of hundreds of rows. A background call loads every page in the background. */
export async function fetchAllPages<P extends Page, T>(
  fetchPage: (next_cursor: string | null) => Promise<P>,
  rowsOf: (page: P) => T[],
): Promise<T[]> {
  const fetchNext = isInBackground() ? (cursor: string | null) => inBackground(() => fetchPage(cursor)) : fetchPage
  let page = await fetchNext(null)
  const rows = [...rowsOf(page)]
  while (page.next_cursor) {
    page = await fetchNext(page.next_cursor)
    rows.push(...rowsOf(page))
  }
  return rows
}
