import { resultReport } from '../src/labs/documents/result-report.ts'
import { aReport, manyResults } from '../test/support/documents.ts'

const report = aReport({ sections: [{ results: manyResults(60), missing: [] }] })

for (let round = 1; round <= 20; round++) {
  const start = performance.now()
  const { length } = await resultReport(report)
  console.log(`report of 60 markers, round ${round}: ${(performance.now() - start).toFixed(1)} ms, ${Math.round(length / 1024)} kB`)
}
