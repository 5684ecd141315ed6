import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { groups, neighborsOf, pageAt, pages, REFERENCE } from '../../src/http/docs/pages.ts'
import { root } from '../support/process.ts'

const written = pages.filter(({ slug }) => slug !== REFERENCE)

test('lists every file of docs/ except the contributor pages, and no other', () => {
  const files = globSync('**/*.md', { cwd: join(root, 'docs'), exclude: ['contributing'] }).map((file) => file.replace(/\.md$/, ''))
  expect(files.sort()).toEqual(written.map(({ slug }) => slug).sort())
})

test('lists each page and title once', () => {
  expect(new Set(pages.map(({ slug }) => slug)).size).toBe(pages.length)
  expect(new Set(pages.map(({ title }) => title)).size).toBe(pages.length)
})

test('links previous and next across groups', () => {
  const [first, last] = [pages[0], pages.at(-1)]
  expect(neighborsOf(first as (typeof pages)[0]).before).toBeUndefined()
  expect(neighborsOf(last as (typeof pages)[0]).after).toBeUndefined()
  const concepts = groups[1]?.pages[0] as (typeof pages)[0]
  expect(neighborsOf(concepts)).toEqual({ before: pageAt('quick-start'), after: pageAt('lifecycle') })
})

test('the container image contains the documentation', () => {
  expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toMatch(/^COPY docs docs$/m)
  expect(readFileSync(join(root, '.dockerignore'), 'utf8')).not.toMatch(/^docs$/m)
})
