import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'

const matchesIn = (pattern: string, search: RegExp) =>
  globSync(pattern, { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(search)].map(([, found]) => found as string),
  )

const pages = 'docs/contributing/decisions/*.md'
const decided = matchesIn(pages, /^##+ Gap (\d+): /gm).map(Number)

test('each gap has one decision', () => {
  expect(decided.length).toBeGreaterThan(300)
  expect(decided.filter((number, i) => decided.indexOf(number) !== i)).toEqual([])
})

test('each gap cited in the code has a decision', () => {
  const cited = matchesIn('{src,test,console/src,scripts}/**/*.{ts,tsx}', /\bgap (\d+)/gi).map(Number)
  expect(cited.length).toBeGreaterThan(0)
  expect(cited.filter((number) => !decided.includes(number))).toEqual([])
})

test('the pages name folders and files that exist', () => {
  const paths = matchesIn(pages, /`((?:src|console|test)\/[\w./-]+)`/g)
  expect(paths.length).toBeGreaterThan(10)
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
})
