import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { besides, groups, pageAt, pages, REFERENCE } from '../../src/http/docs/pages.ts'
import { root } from '../support/process.ts'

const written = pages.filter(({ slug }) => slug !== REFERENCE)

test('every file of docs/ is a page, except the contributor pages, and every page has its file', () => {
  const files = globSync('**/*.md', { cwd: join(root, 'docs'), exclude: ['contributing'] }).map((file) => file.replace(/\.md$/, ''))
  expect(files.sort()).toEqual(written.map(({ slug }) => slug).sort())
})

test('a page is called and placed once', () => {
  expect(new Set(pages.map(({ slug }) => slug)).size).toBe(pages.length)
  expect(new Set(pages.map(({ title }) => title)).size).toBe(pages.length)
})

test('previous and next lead through all groups', () => {
  const [first, last] = [pages[0], pages.at(-1)]
  expect(besides(first as (typeof pages)[0]).before).toBeUndefined()
  expect(besides(last as (typeof pages)[0]).after).toBeUndefined()
  const concepts = groups[1]?.pages[0] as (typeof pages)[0]
  expect(besides(concepts)).toEqual({ before: pageAt('quick-start'), after: pageAt('lifecycle') })
})

test('the image takes the documentation along', () => {
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toMatch(/^COPY docs docs$/m)
  expect(readFileSync(join(root, '.dockerignore'), 'utf8')).not.toMatch(/^docs$/m)
})
