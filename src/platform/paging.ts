import { isId } from '../contract/common.ts'
import { invalid } from './problem.ts'

/** Where a page begins: after this row. */
type Mark = { at: string; id: string }
export type Page = { limit: number; after?: Mark | undefined }

const PAGE = 50

/** `isPlace` knows what stands in the cursor beside the id, which is a moment unless a list is ordered by something else. */
export function pageAfter(cursor: string | null | undefined, limit = PAGE, isPlace = isInstant, loc = ['query', 'next_cursor']): Page {
  if (!cursor) return { limit }
  const [at, id] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (!at || !isPlace(at) || !isId(id)) throw invalid(loc, `Send the ${loc.at(-1)} of the page before, unchanged.`)
  return { limit, after: { at, id } }
}

/** A moment that exists, as we write it: the runtime alone would take 30 February. */
export const isInstant = (text: string) =>
  /^[1-9]\d{3}-/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text

/** Cuts the one row too many that a store reads, and makes the cursor from the last one that stays. */
export function pageOf<T>(rows: T[], page: Page, mark: (row: T) => Mark) {
  const kept = rows.slice(0, page.limit)
  const last = kept.at(-1)
  return { rows: kept, next_cursor: rows.length > page.limit && last ? cursorAt(mark(last)) : null }
}

export const cursorAt = ({ at, id }: Mark) => Buffer.from(`${at} ${id}`).toString('base64url')
