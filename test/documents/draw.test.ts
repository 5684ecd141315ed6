import { expect, test } from 'vitest'
import { draw } from '../../src/labs/documents/draw.ts'
import { resultReport } from '../../src/labs/documents/result-report.ts'
import { aReport, aResult } from '../support/documents.ts'

const long = () => {
  const results = Array.from({ length: 300 }, (_, i) => aResult({ name: `Measurement ${i}`, notes: 'Repeated and confirmed. '.repeat(20) }))
  return aReport({ sections: [{ results, missing: [] }] })
}

/** The thread belongs to the service, and these tests need nothing else of it. */
const service = { caches: new Map() }

test('the thread draws the same document as the main thread', async () => {
  const [first, second] = await Promise.all([draw(service, 'resultReport', aReport()), draw(service, 'resultReport', aReport())])
  expect(first).toEqual(await resultReport(aReport()))
  expect(second).toEqual(first)
})

test('the event loop stays responsive while a long document is drawn', async () => {
  let turns = 0
  let drawn = false
  const document = draw(service, 'resultReport', long()).finally(() => {
    drawn = true
  })
  while (!drawn) {
    await new Promise((done) => setImmediate(done))
    turns++
  }
  expect((await document).subarray(0, 5).toString()).toBe('%PDF-')
  expect(turns).toBeGreaterThan(100)
})

test('a failed document reports the source file without values, and the next one succeeds', async () => {
  const failure = await draw(service, 'resultReport', aReport({ sections: 'Fictitious' as never })).catch((error: Error) => error)
  expect(failure).toBeInstanceOf(Error)
  expect((failure as Error).message).not.toContain('Fictitious')
  expect((failure as Error).stack).toContain('result-report.ts')
  expect((await draw(service, 'resultReport', aReport())).length).toBeGreaterThan(1000)
})
