import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { expect, test } from 'vitest'
import { limitsTable } from '../../scripts/limits-page.ts'
import { root } from '../support/process.ts'

/** These are not limits that a caller can meet. */
const exceptions: Record<string, string> = {
  'contract/unknown-fields.ts MAX_FAULTS': 'shortens a message',
  'contract/unknown-fields.ts MAX_NAME_LENGTH': 'a longer name is no misspelled field',
  'contract/wearables/bulk.ts MAX_TOKEN_CHARACTERS': 'the API reference has it',
  'wearables/time/rules.ts MAX_SESSION_MS': 'the API reference has it',
  'contract/wearables/new-summaries.ts MAX_BPM': 'the API reference has it',
  'contract/wearables/new-summaries.ts MAX_KCAL': 'the API reference has it',
  'contract/wearables/new-summaries.ts MAX_METERS': 'the API reference has it',
  'contract/wearables/new-summaries.ts MAX_OFFSET': 'the API reference has it',
  'contract/wearables/new-summaries.ts MAX_SECONDS': 'the API reference has it',
  'contract/wearables/streams.ts MAX_STREAM_VALUES': 'in the table as the entries of a list',
  'contract/wording.ts MAX_LISTED_VALUES': 'shortens a message',
  'http/body/form.ts MAX_HEADER_BYTES': 'no form has such headers',
  'http/docs/layout.ts MAX_HEADINGS': 'shortens a menu',
  'http/docs/page-response.ts MAX_HITS': 'shortens a list of pages',
  'http/subjects.ts MAX_LISTED': 'shortens an audit row',
  'http/metrics/collect.ts MAX_AGE_MS': 'readers of that time share a collection',
  'tenants/keys/known-callers.ts MAX_AGE_MS': 'security.md has it',
  'tenants/keys/known-callers.ts MAX_KNOWN_CALLERS': 'the size of a cache',
  'platform/db/open.ts MAX_PIPELINED_BYTES': 'a longer statement uses another connection',
  'platform/db/connections/replica.ts MAX_STALENESS_MS': 'a replica that is behind is not used',
  'platform/sealing/epochs/keys.ts MAX_OPENED': 'the size of a cache',
  'tenants/people/rules.ts MAX_PEOPLE_PER_EMAIL': 'a sign-in tries the first ones',
  'wearables/connections/claim.ts MAX_CANDIDATES': 'a job looks at the first ones',
  'wearables/data/samples/store-days.ts MAX_PIPELINED_DAYS': 'a larger push uses another connection',
  'wearables/ingestion/rules.ts MAX_BLOCK_MS': 'a wait',
  'wearables/ingestion/skips/rules.ts MAX_SKIPPED': 'shortens a list of records, and counters have all',
  'wearables/ingestion/store.ts MAX_TURNS': 'the next search reads the others',
}

const constant = /^(export )?const (MAX_\w+)/gm

/** Every exported constant, and in the HTTP surface also those of one file. */
function maximums() {
  const src = join(root, 'src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  return files.flatMap((file) =>
    [...readFileSync(join(src, file), 'utf8').matchAll(constant)]
      .filter(([, exported]) => exported || /^(contract|http)\//.test(file))
      .map(([, , name]) => `${posix.normalize(file)} ${name}`),
  )
}

/** The constants that the table imports. */
function listed() {
  const text = readFileSync(join(root, 'scripts/limits-page.ts'), 'utf8')
  return [...text.matchAll(/^import \{([^}]+)\} from '(\S+)'/gm)].flatMap(([, names = '', path = '']) =>
    names.split(',').map((name) => `${relative('src', join('scripts', path))} ${name.trim()}`),
  )
}

test('every maximum of the code is in the table of limits, or is none for a caller', () => {
  const inTable = listed()
  const missing = maximums().filter((one) => !inTable.includes(one) && !exceptions[one])
  expect(missing).toEqual([])
  expect(Object.keys(exceptions).filter((one) => !maximums().includes(one) || inTable.includes(one))).toEqual([])
})

const unit = /\d (?:KiB|MiB|seconds|minutes|years|days|miles|characters|per )/
/** The name of a count begins with what is counted, so its number needs no unit. Headers also have a size. */
const countedName = /^(?:API keys|[A-Z][a-z-]+s|[A-Z][a-z-]+ [a-z]+s)\b(?! of a request,)/

test('every limit in the table has a name of its own and a number with its unit', () => {
  const rows = limitsTable()
    .flat()
    .join('\n')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
  expect(rows.length).toBeGreaterThan(30)
  const limits = rows.map((row) => row.slice(2).split(' | ') as [string, string])
  const vague = limits.filter(
    ([name, value]) => !unit.test(value) && !/^none /.test(value) && !(countedName.test(name) && /^\d/.test(value)),
  )
  expect(vague).toEqual([])
  const names = limits.map(([name]) => name)
  expect(names.length).toBe(new Set(names).size)
})
