import { isId } from '../contract/common.ts'
import { invalid } from './problem.ts'

/** The row after which a page begins. */
type Position = { at: string; id: string }
/** How callers ask for a page. */
export type PageQuery = { limit: number; next_cursor?: string | null | undefined }
export type Page = { limit: number; after?: Position | undefined }

const DEFAULT_LIMIT = 50

/** `isPosition` checks the sort value in the cursor, which is a time unless the list is sorted by something else. */
export function pageAfter(
  cursor: string | null | undefined,
  limit = DEFAULT_LIMIT,
  isPosition = isInstant,
  loc = ['query', 'next_cursor'],
): Page {
  if (!cursor) return { limit }
  const [at, id] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (!at || !isPosition(at) || !isId(id)) throw invalid(loc, `Send the ${loc.at(-1)} of the previous page unchanged.`)
  return { limit, after: { at, id } }
}

/** Accepts only times that exist, in our format. Date.parse alone would accept February 30. */
export const isInstant = (text: string) =>
  /^[1-9]\d{3}-/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text

/** Accepts a rank of one digit and a time. */
export const isRankedInstant = (text: string) => /^[01]/.test(text) && isInstant(text.slice(1))

/** Removes the extra row that the store reads, and builds the cursor from the last remaining one. */
export function pageOf<T>(rows: T[], page: Page, positionOf: (row: T) => Position) {
  const visible = rows.slice(0, page.limit)
  const last = visible.at(-1)
  return { rows: visible, next_cursor: rows.length > page.limit && last ? cursorAt(positionOf(last)) : null }
}

export const cursorAt = ({ at, id }: Position) => Buffer.from(`${at} ${id}`).toString('base64url')
