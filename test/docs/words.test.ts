import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/table.ts'
import { errorTypes } from '../../src/contract/errors.ts'
import { eventNames } from '../../src/contract/events.ts'
import { endpoints } from '../../src/contract/index.ts'
import { orderStatuses } from '../../src/contract/labs/lifecycle.ts'
import { ClientSettings, Settings } from '../../src/platform/config.ts'
import { pages, pageText } from './support/blocks.ts'

/** The words of a page that match the pattern and that the contract does not know. */
const unknown = (page: string, pattern: RegExp, known: (word: string) => boolean) => [
  ...new Set([...pageText(page).matchAll(pattern)].map(([, word]) => word as string).filter((word) => !known(word))),
]

/** Environment variables of tools and tests. */
const elsewhere = [
  'EMPTY_DATABASE_URL',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'NODE_EXTRA_CA_CERTS',
  'TEST_DATABASE_URL',
  'TEST_FULL',
  'TEST_POOLER',
]
const capitals = new Set([...Object.keys({ ...errorTypes, ...Settings.shape, ...ClientSettings.shape }), ...elsewhere])

const rows = Object.values(endpoints).flatMap(
  ({ method, path, aliases = [] }: { method: string; path: string; aliases?: readonly string[] }) =>
    [path, ...aliases].map((path) => `${method.toUpperCase()} ${withoutParameterNames(path)}`),
)

/** Paths with anonymous parameters, so that they can be compared. */
function withoutParameterNames(path: string) {
  return path
    .replace(/\?.*/, '')
    .replace('{resource}', '*')
    .replace(/\{[^}]*\}/g, '{}')
}

/** `{resource}` matches every resource, because the contract and the pages use both the parameter and the name of a resource. */
function isSameCall(row: string, call: string) {
  const [steps, others] = [row.split('/'), call.split('/')]
  return steps.length === others.length && steps.every((step, i) => step === others[i] || step === '*' || others[i] === '*')
}

/** Endpoints without a row in the contract, and the operation that gap 183 leaves out. */
const unlisted = ['GET /asyncapi.json', 'GET /webhooks/{}/jwks.json', 'POST /v2/link/code/create']

describe.each(pages)('%s', (page) => {
  test('names only known statuses', () => {
    const status = /\b((?:received|collecting_sample|sample_with_lab|completed|cancelled|failed)\.[a-z_]+\.[a-z_]+)/g
    expect(unknown(page, status, (word) => orderStatuses.includes(word))).toEqual([])
  })

  test('names only known event types', () => {
    const type = /`((?:user|labtest|lab_report|provider|daily|historical|endpoint|message)\.[a-z_.]+)`/g
    expect(unknown(page, type, (word) => eventNames.some((name) => name === word || name.startsWith(word.replace(/\.?$/, '.'))))).toEqual(
      [],
    )
  })

  test('names only known errors and settings', () => {
    expect(unknown(page, /`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g, (word) => capitals.has(word))).toEqual([])
  })

  test('names only known commands', () => {
    const isThere = (words: string) => words === 'help' || commands.some(({ name }) => `${name} `.startsWith(`${words} `))
    expect(unknown(page, /`assay ([a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*)?)/g, isThere)).toEqual([])
  })

  test('names only known endpoints', () => {
    const call = /`((?:GET|POST|PUT|PATCH|DELETE) \/[^`\s]*)`/g
    const isThere = (word: string) => [...rows, ...unlisted].some((row) => isSameCall(row, withoutParameterNames(word)))
    expect(unknown(page, call, isThere)).toEqual([])
  })
})

describe('the changelog', () => {
  const text = pageText('CHANGELOG.md')

  test('has no remainder of another entry', () => {
    expect(text.match(/(?<=\.\n) +[a-z].*/g)).toBeNull()
  })

  test('has no entry that begins with a whole other one', () => {
    const entries = [...text.matchAll(/^- .*(?:\n +.*)*/gm)].map(([entry]) => entry)
    expect(entries.filter((entry, i) => entries.some((other, n) => n !== i && other.startsWith(entry.replace(/\.$/, ''))))).toEqual([])
  })
})
