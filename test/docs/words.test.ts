import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/table.ts'
import { eventNames } from '../../src/contract/delivery/events.ts'
import { errorTypes } from '../../src/contract/errors.ts'
import { endpoints } from '../../src/contract/index.ts'
import { orderStatuses } from '../../src/contract/labs/lifecycle.ts'
import { ClientSettings, Settings } from '../../src/platform/config.ts'
import { pages, pageText } from './support/blocks.ts'

/** What a page names and the contract does not have. */
const unknown = (page: string, pattern: RegExp, known: (word: string) => boolean) => [
  ...new Set([...pageText(page).matchAll(pattern)].map(([, word]) => word as string).filter((word) => !known(word))),
]

/** What is set around the service, or by a test. */
const elsewhere = ['EMPTY_DATABASE_URL', 'GOOGLE_APPLICATION_CREDENTIALS', 'NODE_EXTRA_CA_CERTS', 'TEST_DATABASE_URL']
const capitals = new Set([...Object.keys({ ...errorTypes, ...Settings.shape, ...ClientSettings.shape }), ...elsewhere])

const rows = Object.values(endpoints).flatMap(
  ({ method, path, aliases = [] }: { method: string; path: string; aliases?: readonly string[] }) =>
    [path, ...aliases].map((path) => `${method.toUpperCase()} ${nameless(path)}`),
)

/** Paths as they compare, whatever their parameters are called. */
function nameless(path: string) {
  return path.replace(/\?.*/, '').replace(/\{[^}]*\}/g, '{}')
}

/** Answered without a row of the contract, and what gap 183 leaves out. */
const unlisted = ['GET /asyncapi.json', 'GET /webhooks/{}/jwks.json', 'POST /v2/link/code/create']

describe.each(pages)('%s', (page) => {
  test('names statuses that there are', () => {
    const status = /\b((?:received|collecting_sample|sample_with_lab|completed|cancelled|failed)\.[a-z_]+\.[a-z_]+)/g
    expect(unknown(page, status, (word) => orderStatuses.includes(word))).toEqual([])
  })

  test('names events that there are', () => {
    const type = /`((?:labtest|lab_report|provider|daily|historical|endpoint|message)\.[a-z_.]+)`/g
    expect(unknown(page, type, (word) => eventNames.some((name) => name === word || name.startsWith(word.replace(/\.?$/, '.'))))).toEqual(
      [],
    )
  })

  test('names errors and settings that there are', () => {
    expect(unknown(page, /`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g, (word) => capitals.has(word))).toEqual([])
  })

  test('names commands that there are', () => {
    const isThere = (words: string) => words === 'help' || commands.some(({ name }) => `${name} `.startsWith(`${words} `))
    expect(unknown(page, /`assay ([a-z]+(?:-[a-z]+)*(?: [a-z]+)?)/g, isThere)).toEqual([])
  })

  test('names endpoints that there are', () => {
    const call = /`((?:GET|POST|PUT|PATCH|DELETE) \/[^`\s]*)`/g
    const isThere = (word: string) => [...rows, ...unlisted].includes(nameless(word))
    expect(unknown(page, call, isThere)).toEqual([])
  })
})
