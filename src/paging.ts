import { Problem } from './problem.ts'

/** Where a page begins: after this row. */
export type Mark = { at: string; id: string }
export type Page = { limit: number; after?: Mark | undefined }

const PAGE = 50
const instant = /^[1-9]\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function pageAfter(cursor: string | null | undefined, limit = PAGE): Page {
  if (!cursor) return { limit }
  const [at, id] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (!at || !instant.test(at) || Number.isNaN(Date.parse(at)) || !uuid.test(id ?? ''))
    throw new Problem('invalid', [
      { type: 'value_error', loc: ['query', 'next_cursor'], msg: 'Send the next_cursor of the page before, unchanged.' },
    ])
  return { limit, after: { at, id: id as string } }
}

/** Cuts the one row too many that a store reads, and makes the cursor from the last one that stays. */
export function pageOf<T>(rows: T[], page: Page, mark: (row: T) => Mark) {
  const kept = rows.slice(0, page.limit)
  const last = kept.at(-1)
  const next_cursor = rows.length > page.limit && last ? Buffer.from(`${mark(last).at} ${mark(last).id}`).toString('base64url') : null
  return { rows: kept, next_cursor }
}
