import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from '../contract/version.ts'
import { countResults, type Evidence, escapeMarkdown, evidenceOf, TestReport } from '../operations/compliance/rules.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { readJson } from './service.ts'

export const evidenceCommand = command({
  name: 'evidence',
  summary:
    'Print the compliance map as Markdown, with the date, the version, the commit and the result of every named test. The command needs no database and runs no tests. It exits with 1 if a named test failed.',
  options: {
    results: {
      value: 'FILE',
      what: 'Report of "TEST_FULL=1 npx vitest run --reporter=json --outputFile=FILE". Without it, every test is marked as not run.',
      file: true,
    },
  },
  examples: ['assay evidence --results results.json', 'assay evidence --results results.json --json'],
  async run({ json, results }) {
    const report = results === undefined ? { testResults: [] } : readReport(results)
    const frameworks = evidenceOf(report)
    const document = {
      created_at: new Date().toISOString(),
      version,
      commit: commitOf(fileURLToPath(new URL('../../', import.meta.url))),
      tests_started_at: report.startTime === undefined ? null : new Date(report.startTime).toISOString(),
      tests: countResults(frameworks),
      frameworks,
    }
    print(json, document, linesOf(document))
    if (document.tests.failed) process.exitCode = 1
  },
})

function readReport(path: string) {
  const parsed = TestReport.safeParse(readJson(path))
  if (!parsed.success) throw setupProblem('The file of --results is not a JSON report of Vitest. Create it with --reporter=json.')
  return parsed.data
}

/** The commit of a clone, with `-dirty` if files were changed. An image and a package have none. */
function commitOf(root: string) {
  if (!existsSync(join(root, '.git'))) return null
  const args = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return null
  }
}

type Document = {
  created_at: string
  version: string
  commit: string | null
  tests_started_at: string | null
  tests: ReturnType<typeof countResults>
  frameworks: Evidence
}

const linesOf = ({ created_at, version, commit, tests_started_at, tests, frameworks }: Document) => [
  '# Compliance evidence',
  '',
  `- Created: ${created_at}`,
  `- Version: ${version}`,
  `- Commit: ${commit ?? 'unknown'}`,
  `- Tests started: ${tests_started_at ?? 'unknown'}`,
  `- Tests: ${tests.passed} passed, ${tests.failed} failed, ${tests.not_run} not run`,
  '',
  'Assay has no certification. This document lists technical features and their tests. docs/shared-responsibility.md lists what',
  'the operator does.',
  ...frameworks.flatMap(frameworkLines),
]

const frameworkLines = ({ name, requirements, operator }: Evidence[number]) => [
  '',
  `## ${name}`,
  ...requirements.flatMap(({ reference, title, controls }) => [
    '',
    `### ${reference} ${title}`,
    ...controls.flatMap(({ feature, tests }) => [
      '',
      feature,
      '',
      ...tests.map(({ file, title, result }) => `- **${result}** ${escapeMarkdown(title)} (\`${file}\`)`),
    ]),
  ]),
  '',
  '### Left to the operator',
  '',
  ...operator.map((text) => `- ${text}`),
]
