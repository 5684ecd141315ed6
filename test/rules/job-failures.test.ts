import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { failureLog } from '../../src/jobs/failures.ts'

function newFailureLog() {
  const lines: { level: number; msg: string }[] = []
  const counts = new Map<string, number>()
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const onFailure = failureLog(pino(stream), (job) => counts.set(job, (counts.get(job) ?? 0) + 1))
  return { lines, counts, onFailure }
}

const withCode = (code: string) => Object.assign(new Error('message'), { code })

test('an outage of the database is one line, however many jobs fail', () => {
  const { lines, counts, onFailure } = newFailureLog()
  for (let i = 0; i < 50; i++) for (const job of ['deliver', 'number events']) onFailure(job, withCode('ECONNREFUSED'))
  expect(lines).toEqual([expect.objectContaining({ level: 40, code: 'ECONNREFUSED', msg: 'database unavailable, jobs will retry' })])
  expect(Object.fromEntries(counts)).toEqual({ deliver: 50, 'number events': 50 })
})

test('every other failure is logged with its job', () => {
  const { lines, onFailure } = newFailureLog()
  for (const code of ['23505', '40P01', 'AS003']) onFailure('deliver', withCode(code))
  expect(lines).toEqual(
    ['23505', '40P01', 'AS003'].map((code) =>
      expect.objectContaining({ level: 50, job: 'deliver', err: expect.objectContaining({ code }) }),
    ),
  )
})
