import { expect, test } from 'vitest'
import { draw } from '../../src/labs/documents/draw.ts'
import { resultReport } from '../../src/labs/documents/result-report.ts'
import { aReport, aResult } from '../support/documents.ts'

const long = () => {
  const results = Array.from({ length: 300 }, (_, i) => aResult({ name: `Measurement ${i}`, notes: 'Repeated and confirmed. '.repeat(20) }))
  return aReport({ sections: [{ results, missing: [] }] })
}

/** The thread lives with the service; these tests need nothing else of one. */
const service = { caches: new Map() }

test('a paper of the thread is the paper that would be drawn here', async () => {
  const [one, other] = await Promise.all([draw(service, 'resultReport', aReport()), draw(service, 'resultReport', aReport())])
  expect(one).toEqual(await resultReport(aReport()))
  expect(other).toEqual(one)
})

test('others have their turn while a long paper is drawn', async () => {
  let turns = 0
  let drawn = false
  const paper = draw(service, 'resultReport', long()).finally(() => {
    drawn = true
  })
  while (!drawn) {
    await new Promise((done) => setImmediate(done))
    turns++
  }
  expect((await paper).subarray(0, 5).toString()).toBe('%PDF-')
  expect(turns).toBeGreaterThan(100)
})

test('a paper that cannot be drawn says where and quotes nothing, and the next one is drawn', async () => {
  const failure = await draw(service, 'resultReport', aReport({ sections: 'Fictitious' as never })).catch((error: Error) => error)
  expect(failure).toBeInstanceOf(Error)
  expect((failure as Error).message).not.toContain('Fictitious')
  expect((failure as Error).stack).toContain('result-report.ts')
  expect((await draw(service, 'resultReport', aReport())).length).toBeGreaterThan(1000)
})
