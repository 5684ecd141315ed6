import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { coalesceReads, openPipelined, type Query, STUCK_MS } from '../../src/platform/db/connections/pipelined-connections.ts'
import { isDatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { MAX_PIPELINED_BYTES, openDatabase, prepareStatement, run } from '../../src/platform/db/open.ts'
import { atEnd } from '../support/at-end.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually, TIMEOUT_MS } from '../support/process.ts'
import { directUrl, query } from '../support/query.ts'
import { fileDatabase } from '../support/world.ts'

const url = await fileDatabase()
await query(url, 'create table counters (id int primary key, count int not null)')
await query(url, 'grant all on counters to public')
await query(url, 'insert into counters select i, 0 from generate_series(1, 50) i')
await query(
  url,
  `create function count_up(id int, lock_ms int) returns int language plpgsql as $$
   declare result int;
   begin
     perform set_config('lock_timeout', coalesce(lock_ms, 0)::text, true);
     update counters c set count = c.count + 1 where c.id = count_up.id returning c.count into result;
     return result;
   end $$`,
)
const { db, pool, close } = openDatabase(url, 8, pino({ level: 'silent' }))
atEnd(close)

const whoAmI = prepareStatement('test_who', 'select pg_backend_pid() as pid, $1::int as value', { hot: 'read' })
const countUp = prepareStatement('test_count', 'select count_up($1, $2) as count', { hot: 'write', locks: true })
const divide = prepareStatement('test_divide', 'select 10 / $1::int as share, $2::int as lock_ms', { hot: 'write', locks: true })

const who = (value: number) => run<{ pid: number; value: number }>(db, whoAmI, [value])
const count = async (id: number) => (await run<{ count: number }>(db, countUp, [id]))[0]?.count
const counted = async (id: number) => (await query(url, 'select count from counters where id = $1', [id]))[0]?.['count']

test('closing ends connections that only the pool used, so that a command ends at once', async () => {
  const { pool, close } = openDatabase(url, 8, pino({ level: 'silent' }))
  await pool.query('select 1')
  expect(pool.totalCount).toBe(1)
  await close()
  expect(pool.totalCount).toBe(0)
})

test('reads a time as ISO text with milliseconds', async () => {
  const readTime = prepareStatement('test_time', 'select $1::timestamptz as at', { hot: 'read' })
  const read = async (text: string) => (await run<{ at: string }>(db, readTime, [text]))[0]?.at
  expect(await read('2026-03-01T09:30:00.123456Z')).toBe('2026-03-01T09:30:00.123Z')
  expect(await read('2026-03-01T09:30:00.5+02:00')).toBe('2026-03-01T07:30:00.500Z')
  expect(await read('2026-03-01')).toBe('2026-03-01T00:00:00.000Z')
  expect(await read('0001-02-03T04:05:06Z')).toBe('0001-02-03T04:05:06.000Z')
})

test('returns each result to its caller over one connection', async () => {
  const results = await Promise.all(Array.from({ length: 300 }, (_, i) => who(i % 100)))
  expect(results.map(([row]) => row?.value)).toEqual(Array.from({ length: 300 }, (_, i) => i % 100))
  expect(new Set(results.map(([row]) => row?.pid)).size).toBe(1)
})

test('a failed statement does not affect others', async () => {
  const shares = [1, 0, 2, 0, 5].map((by) => run<{ share: number }>(db, divide, [by]))
  const outcomes = await Promise.allSettled([...shares, count(1)])
  expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as { code: string }).code))).toEqual([
    [{ share: 10, lock_ms: 100 }],
    '22012',
    [{ share: 5, lock_ms: 100 }],
    '22012',
    [{ share: 2, lock_ms: 100 }],
    1,
  ])
})

test('a statement waiting for a lock does not block others and completes once the lock is free', async () => {
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select 1 from counters where id = 2 for update')
  const blocked = Array.from({ length: 3 }, () => count(2))
  expect(await Promise.all([10, 11, 12, 13, 14, 15].map(count))).toEqual([1, 1, 1, 1, 1, 1])
  expect(await counted(2)).toBe(0)
  await holder.query('commit')
  holder.release()
  expect((await Promise.all(blocked)).toSorted()).toEqual([1, 2, 3])
})

test('a long statement takes a connection of the pool', async () => {
  // A pooler would hand out any connection of the server.
  const { db, close } = openDatabase(directUrl(url), 8, pino({ level: 'silent' }))
  atEnd(close)
  const sender = prepareStatement('test_sender', 'select pg_backend_pid() as pid, $1::text is null as is_null', { hot: 'write' })
  const pidOf = async (bytes: number) => (await run<{ pid: number }>(db, sender, ['x'.repeat(bytes)]))[0]?.pid
  const shared = await pidOf(1)
  expect(await pidOf(MAX_PIPELINED_BYTES)).toBe(shared)
  expect(await pidOf(MAX_PIPELINED_BYTES + 1)).not.toBe(shared)
})

test('a connection whose statement waits is stuck until the next result', async () => {
  let time = 0
  const newClient = () => new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig)
  const connection = openPipelined(newClient, () => {}, { now: () => time })
  atEnd(connection.close)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select 1 from counters where id = 30 for update')
  await connection.run({ name: 'test_one', text: 'select 1', values: [] })
  time += 10 * STUCK_MS
  expect(connection.isStuck()).toBe(false)
  const waiting = connection.run({ name: 'test_lock', text: 'select 1 from counters where id = 30 for update', values: [] })
  await eventually(async () => (await lockWaits(url)).length)
  time += STUCK_MS
  expect(connection.isStuck()).toBe(false)
  time += 1
  expect(connection.isStuck()).toBe(true)
  await holder.query('commit')
  holder.release()
  await waiting
  expect(connection.isStuck()).toBe(false)
})

test('replaces a broken connection with the next statement', async () => {
  const [before] = await who(1)
  await query(url, `select pg_terminate_backend($1::int, ${TIMEOUT_MS})`, [before?.pid])
  await expect.poll(() => who(2).catch(() => undefined), { timeout: TIMEOUT_MS }).toEqual([{ pid: expect.any(Number), value: 2 }])
  const [after] = await who(3)
  expect(after?.pid).not.toBe(before?.pid)
})

test('the end of a connection that was replaced does not affect its successor', async () => {
  await query(url, "create function refuse() returns int language plpgsql as $$ begin raise sqlstate '25006'; end $$")
  const ended: Promise<void>[] = []
  let opened = 0
  const newClient = () => {
    opened++
    return new pg.Client({ connectionString: url, pipeline: true } as pg.ClientConfig)
  }
  const connection = openPipelined(newClient, (client) => ended.push(client.end()))
  atEnd(connection.close)
  const run = (text: string) => connection.run({ name: `test ${text}`, text, values: [] })
  await expect(run('select refuse()')).rejects.toMatchObject({ code: '25006' })
  await run('select 1')
  expect(opened).toBe(2)
  await Promise.all(ended)
  await new Promise((done) => setImmediate(done))
  await run('select 1')
  expect(opened).toBe(2)
})

test('a statement inside a transaction sees its changes and rolls back with it', async () => {
  const undone = db.transaction().execute(async (db) => {
    await run(db, countUp, [20])
    expect(await run(db, countUp, [20])).toEqual([{ count: 2 }])
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await counted(20)).toBe(0)
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A connection that responds when the test says so. */
function openSlow() {
  const queries: Query[] = []
  const responses: ((rows: unknown[]) => void)[] = []
  const run = (query: Query) => {
    queries.push(query)
    return new Promise<{ rows: unknown[] }>((resolve) => responses.push((rows) => resolve({ rows })))
  }
  const connection = coalesceReads({ run, isStuck: () => false, close: async () => {} })
  const read = (value: unknown) => connection.run({ name: 'find', text: 'find', values: [value] })
  return { responses, read, sent: () => queries.map(({ values }) => values[0]) }
}

test('identical concurrent reads share one query, and later reads run a new one', async () => {
  const { sent, responses, read } = openSlow()
  const first = [read('a'), read('a'), read(Buffer.from('a')), read('b')]
  await turn()
  expect(sent()).toEqual(['a', Buffer.from('a'), 'b'])
  const later = [read('a'), read('a')]
  await turn()
  expect(sent()).toEqual(['a', Buffer.from('a'), 'b', 'a'])
  for (const respond of responses.splice(0, 3)) respond(['old'])
  for (const respond of responses.splice(0)) respond(['new'])
  expect(await Promise.all(first)).toEqual(Array(4).fill({ rows: ['old'] }))
  expect(await Promise.all(later)).toEqual([{ rows: ['new'] }, { rows: ['new'] }])
})

test('a busy connection gets three batches of reads at a time, and the reads that arrive meanwhile as one batch', async () => {
  const { sent, responses, read } = openSlow()
  const reads: Promise<unknown>[] = []
  for (let value = 1; value <= 5; value++) {
    reads.push(read(value))
    await turn()
  }
  expect(sent()).toEqual([1, 2, 3])
  responses.shift()?.([])
  await reads[0]
  await turn()
  await turn()
  expect(sent()).toEqual([1, 2, 3, 4, 5])
  for (const respond of responses) respond([])
  await Promise.all(reads)
})

test('a server that accepts connections but does not respond is unavailable', async () => {
  const server = createServer((socket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void server.close())
  const { port } = server.address() as AddressInfo
  const settings = { connectionString: `postgres://assay@127.0.0.1:${port}/assay`, connectionTimeoutMillis: 1 }
  const connection = openPipelined(
    () => new pg.Client(settings),
    () => {},
  )
  const error = await connection.run({ name: 'test_silent', text: 'select 1', values: [] }).catch((error) => error)
  expect(isDatabaseUnavailable(error)).toBe(true)
})
