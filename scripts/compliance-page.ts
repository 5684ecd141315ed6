import { fileURLToPath } from 'node:url'
import { controlNames, escapeMarkdown, testsOf } from '../src/operations/compliance/rules.ts'
import { type ControlName, controls } from '../src/operations/compliance/rules-controls.ts'
import { frameworks } from '../src/operations/compliance/rules-frameworks.ts'
import { bullets, code, prose, table } from './markdown.ts'
import { testTitles } from './test-titles.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

const tests = controlNames.flatMap(testsOf)

/** The titles of the tests in the files that the compliance table names. */
export const namedTitles = () => testTitles(root, new Set(tests.map(({ file }) => file)))

/** The tests that the compliance table names and the test files do not have. */
export const missingTests = (titles: Map<string, string[]>) =>
  tests.filter(({ file, title }) => !titles.get(file)?.includes(title)).map(({ file, title }) => `${file}: ${title}`)

/** Fails if a named test does not exist, so that nobody can remove one and leave the claim. */
export function compliancePage() {
  const missing = missingTests(namedTitles())
  if (missing.length) throw new Error(`src/operations/compliance names tests that do not exist. Correct the names:\n${missing.join('\n')}`)
  return [
    '# Compliance map',
    '',
    ...prose(
      'This page maps requirements of HIPAA, SOC 2, GDPR and OWASP, and findings of attacks on the service, to features of Assay, and each feature to the tests that prove it.',
      'Assay has no certification or attestation, and using it does not make you compliant. The map covers technical features only. Training, contracts, physical security and policies are yours: see [Shared responsibility](shared-responsibility.md). This page is not legal advice.',
      'This page is generated from `src/operations/compliance` by `npm run generate`, which fails if a named test does not exist.',
    ),
    '## Collect evidence',
    '',
    ...prose('Run the tests in a clone of the repository, and write the map with the date, the version, the commit and the results:'),
    '```text',
    'TEST_FULL=1 npx vitest run --reporter=json --outputFile=results.json',
    'assay evidence --results results.json > evidence.md',
    '```',
    '',
    ...prose(
      'To run only the attacks, add `test/attacks` to the first command. The other tests are then marked as not run. `assay evidence` exits with 1 if a named test failed. With `--json` it prints the same data as JSON.',
      'The results show that this version passes its tests on the machine that ran them. They say nothing about the settings of your deployment: run `assay doctor` and `assay audit verify` there.',
    ),
    ...frameworks.flatMap(({ name, requirements, operator }) => [
      `## ${name}`,
      '',
      ...table(
        ['Requirement', 'Features'],
        requirements.map(({ reference, title, controls }) => [`${reference} ${title}`, controls.map(linkTo).join(', ')]),
      ),
      ...prose('Left to you:'),
      ...bullets([...operator]),
    ]),
    '## Features and tests',
    '',
    ...prose('Titles are those in the source. Placeholders such as %s stand for the rows of a table.'),
    ...controlNames.flatMap((name) => [
      `### ${controls[name].title}`,
      '',
      ...prose(controls[name].feature),
      ...bullets(testsOf(name).map(({ file, title }) => `${escapeMarkdown(title)} (${code(file)})`)),
    ]),
  ]
    .join('\n')
    .replace(/\n+$/, '\n')
}

const linkTo = (name: ControlName) => `[${controls[name].title}](#${anchorOf(controls[name].title)})`

const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
