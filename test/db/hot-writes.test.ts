import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'
import { parse, statementsOf } from '../support/source-code.ts'

/** Why a hot write never waits long for a lock. */
const withoutWaits: Record<string, string> = {
  append_audits: 'It inserts rows with new IDs into a table without foreign keys.',
  lease_tokens: 'Only another lease of the same rate locks the row, until its own commit, and a team that is being erased has no callers.',
  renew_worker: 'Only the worker writes its row. Others delete it an hour after its lease.',
}

const read = (pattern: string) => globSync(pattern, { cwd: root }).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
const sources = read('src/**/*.ts')
const hotWrites = sources
  .flatMap(({ file, text }) => statementsOf(parse(file, text)))
  .filter(({ options }) => options.includes('hot: write'))
const limited = hotWrites.filter(({ options }) => options.includes('locks: true'))

test('every hot write is a prepared statement with literal options', () => {
  expect(hotWrites).toHaveLength(sources.flatMap(({ text }) => text.match(/hot: 'write'/g) ?? []).length)
})

test('a hot write limits its wait for a lock, or never waits', () => {
  const others = hotWrites.filter((statement) => !limited.includes(statement)).map(({ name }) => name)
  expect(others.sort()).toEqual(Object.keys(withoutWaits).sort())
})

test.each(limited)('$name calls a function with lock_ms', ({ text = '' }) => {
  const [, name] = /^select (\w+)\(/.exec(text) ?? []
  const [definition] = read('src/**/functions.sql').flatMap(({ text }) => new RegExp(`function ${name}\\(([^)]*)\\)`).exec(text)?.[1] ?? [])
  expect(definition).toMatch(/, lock_ms integer\s*$/)
})
