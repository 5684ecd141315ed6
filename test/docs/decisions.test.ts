import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'

const numbersIn = (pattern: string, citation: RegExp) =>
  globSync(pattern, { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(citation)].map(([, number]) => Number(number)),
  )

const decided = numbersIn('docs/contributing/decisions/*.md', /^##+ Gap (\d+): /gm)

test('each gap has one decision', () => {
  expect(decided.length).toBeGreaterThan(300)
  expect(decided.filter((number, i) => decided.indexOf(number) !== i)).toEqual([])
})

test('each gap cited in the code has a decision', () => {
  const cited = numbersIn('{src,test,console/src,scripts}/**/*.{ts,tsx}', /\bgap (\d+)/gi)
  expect(cited.length).toBeGreaterThan(0)
  expect(cited.filter((number) => !decided.includes(number))).toEqual([])
})
