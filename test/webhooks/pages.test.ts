import { expect, test } from 'vitest'
import { BEGINNING, type Position } from '../../src/contract/delivery/log-rows.ts'
import { readPage } from '../../src/delivery/events/read.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const { app, url } = w

type StoredEvent = { bytes?: number; isErased?: boolean; user_id?: string }

/** A log with one event for each of these. An erased one is empty, and the users have no key. */
async function logOf(events: StoredEvent[]) {
  const { team_id } = await w.tenant()
  for (const [i, { bytes = 10, isErased, user_id }] of events.entries())
    await query(
      url,
      `insert into events (team_id, no, logged_at, id, user_id, event_type, key, deliverable, sealed, created_at)
       values ($1, $2, now(), $3, $4, 'endpoint.disabled', 'a', true, $5, now())`,
      [team_id, i + 1, newUuid(), user_id ?? null, isErased ? null : Buffer.alloc(bytes)],
    )
  const [end] = await query<{ at: string }>(url, 'select now() as at')
  return { team_id, end: { no: events.length, at: end?.at as string } }
}

/** The positions of all pages, each of at most 25 bytes. */
async function readAll({ team_id, end }: Awaited<ReturnType<typeof logOf>>) {
  const pages: number[][] = []
  let after: Position = { no: 0, at: BEGINNING }
  while (after.no < end.no) {
    const page = await readPage(app.db, team_id, { after, end, limit: 100, bytes: 25 })
    pages.push(page.events.map(({ no }) => no))
    after = page.upto
  }
  return pages
}

test('a page that bytes end goes on with the next event', async () => {
  expect(await readAll(await logOf(Array(7).fill({})))).toEqual([[1, 2, 3], [4, 5, 6], [7]])
})

test('an emptied event behind the end of a page does not hide those before it', async () => {
  const events: StoredEvent[] = Array(7).fill({})
  expect(await readAll(await logOf(events.with(5, { isErased: true })))).toEqual([
    [1, 2, 3],
    [4, 5, 6, 7],
  ])
})

test('an event of a user without a key, which is not emptied yet, takes no bytes of a page', async () => {
  const events: StoredEvent[] = Array(7).fill({})
  expect(await readAll(await logOf(events.with(0, { user_id: newUuid() })))).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7],
  ])
})
