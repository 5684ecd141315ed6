import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { missingTests, namedTitles } from '../../scripts/compliance-page.ts'
import { titlesIn } from '../../scripts/test-titles.ts'
import { controlNames } from '../../src/operations/compliance/rules.ts'
import { frameworks } from '../../src/operations/compliance/rules-frameworks.ts'

const owaspFile = 'test/attacks/owasp.test.ts'

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
