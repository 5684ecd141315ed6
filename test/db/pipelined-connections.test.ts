import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openDatabase, prepareStatement, runPrepared } from '../../src/platform/db/open.ts'
import { coalesceReads, type Statement } from '../../src/platform/db/pipelined-connections.ts'
import { query } from '../support/cluster.ts'
import { atEnd, fileDatabase } from '../support/world.ts'

const url = await fileDatabase()
await query(url, 'create table counters (id int primary key, count int not null)')
await query(url, 'insert into counters select i, 0 from generate_series(1, 50) i')
const { db, pool, close } = openDatabase(url, 8, pino({ level: 'silent' }))
atEnd(close)

const whoAmI = prepareStatement('test_who', 'select pg_backend_pid() as pid, $1::int as asked')
const countUp = prepareStatement('test_count', 'update counters set count = count + 1 where id = $1 returning count')
const divide = prepareStatement('test_divide', 'select 10 / $1::int as share')

const who = (asked: number) => runPrepared<{ pid: number; asked: number }>(db, whoAmI, [asked], 'reading')
const count = async (id: number) => (await runPrepared<{ count: number }>(db, countUp, [id], 'writing'))[0]?.count
const counted = async (id: number) => (await query(url, 'select count from counters where id = $1', [id]))[0]?.['count']

test('everybody gets the answer to their own question over one connection', async () => {
  const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => who(i % 100)))
  expect(answers.map(([row]) => row?.asked)).toEqual(Array.from({ length: 300 }, (_, i) => i % 100))
  expect(new Set(answers.map(([row]) => row?.pid)).size).toBe(1)
})

test('a statement that fails takes no other with it', async () => {
  const shares = [1, 0, 2, 0, 5].map((by) => runPrepared<{ share: number }>(db, divide, [by], 'writing'))
  const outcomes = await Promise.allSettled([...shares, count(1)])
  expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as { code: string }).code))).toEqual([
    [{ share: 10 }],
    '22012',
    [{ share: 5 }],
    '22012',
    [{ share: 2 }],
    1,
  ])
})

test('who waits for a lock keeps nobody else waiting, and is done once it is free', async () => {
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

test('a line that breaks fails what is under way and is replaced by the next statement', async () => {
  const [before] = await who(1)
  await query(url, 'select pg_terminate_backend($1)', [before?.pid])
  await expect.poll(() => who(2).catch(() => undefined)).toEqual([{ pid: expect.any(Number), asked: 2 }])
  const [after] = await who(3)
  expect(after?.pid).not.toBe(before?.pid)
})

test('inside a transaction a statement sees what the transaction did, and goes with it', async () => {
  const undone = db.transaction().execute(async (db) => {
    await runPrepared(db, countUp, [20], 'writing')
    expect(await runPrepared(db, countUp, [20], 'writing')).toEqual([{ count: 2 }])
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect(await counted(20)).toBe(0)
})

test('those who ask the same while others are under way share one answer; who asks later asks anew', async () => {
  const asked: Statement[] = []
  const answers: ((rows: unknown[]) => void)[] = []
  const run = (statement: Statement) => {
    asked.push(statement)
    return new Promise<{ rows: unknown[] }>((resolve) => answers.push((rows) => resolve({ rows })))
  }
  const line = coalesceReads({ run, close: async () => {} })
  const ask = (value: unknown) => line.run({ name: 'find', text: 'find', values: [value] })
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  const first = [ask('a'), ask('a'), ask(Buffer.from('a')), ask('b')]
  await turn()
  expect(asked.map(({ values }) => values[0])).toEqual(['a', Buffer.from('a'), 'b'])
  const later = [ask('a'), ask('a')]
  await turn()
  expect(asked).toHaveLength(3)
  for (const answer of answers.splice(0)) answer(['old'])
  expect(await Promise.all(first)).toEqual(Array(4).fill({ rows: ['old'] }))
  await turn()
  await turn()
  expect(asked).toHaveLength(4)
  for (const answer of answers.splice(0)) answer(['new'])
  expect(await Promise.all(later)).toEqual([{ rows: ['new'] }, { rows: ['new'] }])
})
