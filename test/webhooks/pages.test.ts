import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { BEGINNING, type Position } from '../../src/contract/delivery/log-rows.ts'
import { readPage } from '../../src/delivery/events/read.ts'
import { DAY, later } from '../../src/platform/time.ts'
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

/** A log with an event on each of so many days, the last one yesterday, that are numbered from 1. */
async function logOfDays(days: number) {
  const { team_id } = await w.tenant()
  const noon = `${app.wall().slice(0, 10)}T12:00:00.000Z`
  const at = (no: number) => later(noon, (no - 1 - days) * DAY)
  for (let no = 1; no <= days; no++) {
    await query(url, "select make_partition('events', $1)", [at(no).slice(0, 10)])
    await query(
      url,
      `insert into events (team_id, no, logged_at, id, event_type, key, deliverable, sealed, created_at)
       values ($1, $2, $3, $4, 'endpoint.disabled', 'a', true, '', $3)`,
      [team_id, no, at(no), newUuid()],
    )
  }
  return { team_id, at, end: { no: days, at: at(days) } }
}

/** Reads a page, and counts the partitions that it opens. */
const countOpened = (team_id: string, page: Parameters<typeof readPage>[2]) =>
  app.db.transaction().execute(async (db) => {
    const { events, upto } = await readPage(db, team_id, page)
    const { rows } = await sql<{ name: string }>`
      select c.relname as name from pg_locks l join pg_class c on c.oid = l.relation
      where l.pid = pg_backend_pid() and c.relispartition and c.relkind = 'r' and c.relname like 'events%'`.execute(db)
    return { read: events.map(({ no }) => no), upto: upto.no, opened: rows.length }
  })

test('a reader that is 90 days behind opens the partitions that its page reads', async () => {
  const { team_id, at, end } = await logOfDays(90)
  const after = { no: 1, at: at(1) }
  const page = { after, end, bytes: 1000 }
  expect(await countOpened(team_id, { ...page, limit: 2 })).toEqual({ read: [2, 3], upto: 3, opened: 3 })
  expect(await countOpened(team_id, { ...page, limit: 2, deliverable: true })).toEqual({ read: [2, 3], upto: 3, opened: 3 })
  const event_type = ['message.*']
  expect(await countOpened(team_id, { ...page, limit: 2, event_type })).toEqual({ read: [], upto: 7, opened: 7 })
})

test('a reader finds the next event behind a quiet month', async () => {
  const { team_id, at, end } = await logOfDays(40)
  await query(url, 'delete from events where team_id = $1 and no between 2 and 39', [team_id])
  const page = { end, limit: 10, bytes: 1000 }
  for (const after of [
    { no: 0, at: BEGINNING },
    { no: 1, at: at(1) },
  ]) {
    const { events, upto } = await readPage(app.db, team_id, { ...page, after })
    expect([events.map(({ no }) => no).at(0), upto.no]).toEqual(after.no ? [40, 40] : [1, 1])
  }
})

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
