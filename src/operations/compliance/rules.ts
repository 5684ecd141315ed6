import { z } from 'zod'
import { type Control, type ControlName, controls } from './rules-controls.ts'
import { frameworks } from './rules-frameworks.ts'

export type TestResult = 'passed' | 'failed' | 'not run'

/** The parts of a JSON report of Vitest that count. Each file has its absolute path as name. */
export const TestReport = z.object({
  startTime: z.number().optional(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ ancestorTitles: z.array(z.string()), title: z.string(), status: z.string() })),
    }),
  ),
})
export type TestReport = z.infer<typeof TestReport>

/** The tests of a control, as paths and titles. */
export const testsOf = (name: ControlName) =>
  Object.entries((controls[name] as Control).tests).flatMap(([file, titles]) =>
    titles.map((title) => ({ file: `test/${file}.test.ts`, title })),
  )

/** Every requirement with its controls and their tests, and the result of each test. */
export const evidenceOf = (report: TestReport) => {
  const results = new Map(controlNames.map((name) => [name, testsOf(name).map((test) => ({ ...test, result: resultOf(report, test) }))]))
  return frameworks.map(({ requirements, ...framework }) => ({
    ...framework,
    requirements: requirements.map((requirement) => ({
      ...requirement,
      controls: requirement.controls.map((name) => {
        const { title, feature } = controls[name]
        return { title, feature, tests: results.get(name) ?? [] }
      }),
    })),
  }))
}
export type Evidence = ReturnType<typeof evidenceOf>

export const controlNames = Object.keys(controls) as ControlName[]

/** A test with a table has several results: one that failed outweighs those that passed. */
function resultOf({ testResults }: TestReport, { file, title }: { file: string; title: string }): TestResult {
  const files = testResults.filter(({ name }) => name.replaceAll('\\', '/').endsWith(`/${file}`))
  const pattern = patternOf(title)
  const statuses = files.flatMap(({ assertionResults }) =>
    assertionResults.filter((one) => pattern.test([...one.ancestorTitles, one.title].join(' > '))).map(({ status }) => status),
  )
  if (statuses.includes('failed') || files.some(hasNotRun)) return 'failed'
  return statuses.includes('passed') ? 'passed' : 'not run'
}

/** A file that fails without a failed test could not be loaded or set up. */
const hasNotRun = ({ status, assertionResults }: TestReport['testResults'][number]) =>
  status === 'failed' && !assertionResults.some((one) => one.status === 'failed')

/** The titles that a title with placeholders such as `%s` and `$name` stands for. */
const patternOf = (title: string) =>
  new RegExp(
    `^${title
      .split(/%(?:\.\d+)?[sdifjoO#]|\$[\w.]+/)
      .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
    's',
  )

/** Every test of the table counts once, although several requirements name it. */
export function countResults(evidence: Evidence) {
  const tests = evidence.flatMap(({ requirements }) => requirements.flatMap(({ controls }) => controls.flatMap(({ tests }) => tests)))
  const all = [...new Map(tests.map((test) => [`${test.file} ${test.title}`, test.result])).values()]
  const count = (result: TestResult) => all.filter((one) => one === result).length
  return { passed: count('passed'), failed: count('failed'), not_run: count('not run') }
}

/** The title of a test as Markdown text. */
export const escapeMarkdown = (title: string) => title.replace(/[\\`*_<>[\]]/g, '\\$&')
