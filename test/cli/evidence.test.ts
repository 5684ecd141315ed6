import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { version } from '../../src/contract/version.ts'
import { root } from '../support/process.ts'
import { temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

// The command uses no database.
const cli = assay('')
const folder = temporaryFolder()

const owasp = (line: string, status: string) => ({ ancestorTitles: [], title: line, status })
const API1 = 'API1 broken object level authorization: the key of another team neither reads nor changes a patient or an order'
const API2 = 'API2 broken authentication: an altered, unsigned or expired token is rejected'

type File = { name: string; status: string; assertionResults: { ancestorTitles: string[]; title: string; status: string }[] }
const passing: File[] = [
  { name: `${root}/test/attacks/owasp.test.ts`, status: 'passed', assertionResults: [owasp(API1, 'passed'), owasp(API2, 'skipped')] },
]

let reports = 0
function aReport(testResults: File[]) {
  const path = join(folder, `report-${++reports}.json`)
  writeFileSync(path, JSON.stringify({ startTime: Date.parse('2026-05-04T08:00:00Z'), success: true, testResults }))
  return path
}

async function resultsOf(testResults: File[]) {
  const { out } = await cli.run('evidence', '--results', aReport(testResults), '--json')
  const { frameworks } = JSON.parse(out) as {
    frameworks: { requirements: { controls: { tests: { file: string; title: string; result: string }[] }[] }[] }[]
  }
  const tests = frameworks.flatMap(({ requirements }) => requirements.flatMap(({ controls }) => controls.flatMap(({ tests }) => tests)))
  return (title: string) => tests.find((one) => one.title === title)?.result
}

test('prints the map with the version and the results as Markdown', async () => {
  const { code, out, err } = await cli.run('evidence', '--results', aReport(passing))
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^# Compliance evidence$/m)
  expect(out).toContain(`- Version: ${version}`)
  expect(out).toContain('- Tests started: 2026-05-04T08:00:00.000Z')
  expect(out).toMatch(/^- Tests: 1 passed, 0 failed, \d+ not run$/m)
  for (const heading of ['### 164.312(b) Audit controls', '### CC6.1 Logical access security', '### Article 17 Right to erasure'])
    expect(out).toContain(heading)
  expect(out).toContain(`- **passed** ${API1} (\`test/attacks/owasp.test.ts\`)`)
  expect(out).toContain(`- **not run** ${API2} (\`test/attacks/owasp.test.ts\`)`)
})

test('without a report marks every test as not run', async () => {
  const { tests, tests_started_at, version: named } = await cli.json('evidence')
  expect(tests).toEqual({ passed: 0, failed: 0, not_run: expect.any(Number) })
  expect([tests_started_at, named]).toEqual([null, version])
})

describe('a named test that failed', () => {
  test('ends the command with 1', async () => {
    const failed = [{ ...passing[0], status: 'failed', assertionResults: [owasp(API1, 'failed')] }] as File[]
    const { code, out } = await cli.run('evidence', '--results', aReport(failed))
    expect(code).toBe(1)
    expect(out).toContain(`- **failed** ${API1}`)
  })

  test('counts as failed if one row of its table failed', async () => {
    const title = (role: string, status: string) => ({ ancestorTitles: [role], title: 'has exactly the capabilities in the table', status })
    const name = `${root}/test/people/roles.test.ts`
    const result = await resultsOf([
      { name, status: 'failed', assertionResults: [title('org_admin', 'failed'), title('support', 'passed')] },
    ])
    expect(result('%s > has exactly the capabilities in the table')).toBe('failed')
  })

  test('counts as failed if its file could not be loaded', async () => {
    const result = await resultsOf([{ name: `${root}/test/attacks/owasp.test.ts`, status: 'failed', assertionResults: [] }])
    expect(result(API1)).toBe('failed')
  })
})

test('a test of the same title in another file does not count', async () => {
  const result = await resultsOf([{ name: `${root}/test/api/keys.test.ts`, status: 'passed', assertionResults: [owasp(API1, 'passed')] }])
  expect(result(API1)).toBe('not run')
})

test.each([
  ['{"testResults":[{}]}', 'The file of --results is not a JSON report of Vitest. Create it with --reporter=json.'],
  ['Tests 10 passed', 'The file is not JSON'],
])('rejects the report %s', async (text, message) => {
  const path = join(folder, `report-${++reports}.json`)
  writeFileSync(path, text)
  const { code, out, err } = await cli.run('evidence', '--results', path)
  expect([code, out, err.trim()]).toEqual([1, '', message])
})
