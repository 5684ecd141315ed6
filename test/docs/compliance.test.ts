import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { missingTests, namedTitles } from '../../scripts/compliance-page.ts'
import { titlesIn } from '../../scripts/test-titles.ts'
import { controlNames, testsOf } from '../../src/operations/compliance/rules.ts'
import { frameworks } from '../../src/operations/compliance/rules-frameworks.ts'

const owaspFile = 'test/attacks/owasp.test.ts'

/** The findings of issue 16: for each line of one, the file in test/attacks and the start of the title of its test. */
const findings: Record<string, string[]> = {
  1: ['bodies: eight bodies of nine million empty samples', 'bodies: a credential with hundreds of short bodies'],
  2: ['audit: '],
  3: ['backups: '],
  4: ['erasure: '],
  5: ['docs-search: a flood of searches'],
  6: ['sign-in: guessing the password', 'passwords: a guesser who tries', 'invitations: an administrator who opens the link first'],
  7: ['tokens: '],
  8: ['webhook-urls: somebody with a copy of the database'],
  9: ['minors: the proxy of one child'],
  10: ['findings: 10 '],
  11: [
    'bodies: a client that disconnects in the middle of a body',
    'findings: 11 an operation that is not offered',
    'findings: 11 a consumed link token',
    'findings: 11 the method QUERY',
    'findings: 11 a NUL character',
    'findings: 11 the interface description',
    'findings: 11 the versioning page',
    'page-headers: a page that %s links to',
    'findings: 11 every hard limit',
    'unfinished-requests: an address has a limited number',
    'restarts: a read that loses its connection',
    'findings: 11 /ready says that the disk is full',
    'findings: 11 the event types of a replay',
  ],
  12: [
    'findings: 12 a lab shop',
    'findings: 12 empty query values',
    'findings: 12 %s is the day',
    'findings: 12 a summary read has a provider filter',
    'findings: 12 the paths of older clients',
    'findings: 12 a team with strict enums',
  ],
}

describe('the compliance map', () => {
  const titles = namedTitles()
  const owaspTitles = titles.get(owaspFile) ?? []

  test('names only tests that exist', () => {
    expect(missingTests(titles)).toEqual([])
  })

  test('finds a test that was removed', () => {
    const [removed, ...others] = owaspTitles
    expect(missingTests(new Map(titles).set(owaspFile, others))).toEqual([`${owaspFile}: ${removed}`])
  })

  test('uses every feature for a requirement', () => {
    const used = new Set(frameworks.flatMap(({ requirements }) => requirements.flatMap(({ controls }) => controls)))
    expect(controlNames.filter((name) => !used.has(name))).toEqual([])
  })

  test('names every file of attacks', () => {
    const files = readdirSync(new URL('../attacks/', import.meta.url)).filter((name) => name.endsWith('.test.ts'))
    expect(files.map((name) => `test/attacks/${name}`).filter((file) => !titles.has(file))).toEqual([])
  })

  test.each(Object.entries(findings))('names a test of each line of finding %s in test/attacks', (finding, lines) => {
    const requirement = frameworks
      .find(({ name }) => name === 'Attack findings')
      ?.requirements.find(({ reference }) => reference === finding)
    const named = requirement?.controls.flatMap(testsOf).map(({ file, title }) => `${file}: ${title}`)
    for (const line of lines) {
      const [file, start] = line.split(': ') as [string, string]
      const path = `test/attacks/${file}.test.ts`
      const tests = titlesIn(readFileSync(new URL(`../attacks/${file}.test.ts`, import.meta.url), 'utf8')).filter((title) =>
        title.startsWith(start),
      )
      expect(tests, line).not.toEqual([])
      if (finding !== '11') expect(named, line).toContain(`${path}: ${tests[0]}`)
    }
    expect(named?.filter((test) => test.startsWith('test/attacks/'))).not.toEqual([])
  })

  test('lists each line of the OWASP API Security Top 10 with a test of the same name', () => {
    const lines = frameworks.at(-1)?.requirements ?? []
    expect(lines).toHaveLength(10)
    for (const { reference, title } of lines)
      expect(owaspTitles.filter((one) => one.startsWith(`${reference} ${title.charAt(0).toLowerCase()}${title.slice(1)}: `))).toHaveLength(
        1,
      )
  })
})

test('the titles of a file include those around them, and no skipped tests', () => {
  const text = `
    test('alone', () => {})
    describe('around', () => {
      test.each([[1, 'not a title']])('with %s', async (n: number) => {})
      test.skipIf(process.platform === 'win32').each([1])('not everywhere: %s', () => {})
      test.skip('later', () => {})
    })
    describe.skip('nothing', () => { test('inside', () => {}) })`
  expect(titlesIn(text)).toEqual(['alone', 'around > with %s', 'around > not everywhere: %s'])
})
