import { inBackground, isInBackground } from './api.ts'

type Page = { next_cursor: string | null }

/** Every row of a list that has hundreds of them, not millions. Whoever asks by itself asks for all pages so. */
export async function fetchAllPages<P extends Page, T>(
  ask: (next_cursor: string | null) => Promise<P>,
  rowsOf: (page: P) => T[],
): Promise<T[]> {
  const next = isInBackground() ? (cursor: string | null) => inBackground(() => ask(cursor)) : ask
  let page = await next(null)
  const all = [...rowsOf(page)]
  while (page.next_cursor) {
    page = await next(page.next_cursor)
    all.push(...rowsOf(page))
  }
  return all
}
