import { expect, test } from 'vitest'
import { isDatabaseUnavailable } from '../../src/platform/db/errors.ts'

const withCode = (code: string) => Object.assign(new Error('message'), { code })

test.each([
  ['ECONNREFUSED', true],
  ['EHOSTUNREACH', true],
  // The name of a managed database does not resolve for a moment while it moves.
  ['ENOTFOUND', true],
  ['EAI_AGAIN', true],
  ['ETIMEDOUT', true],
  ['57P01', true],
  ['57P03', true],
  ['53300', true],
  ['23505', false],
  ['22P02', false],
])('the database is unavailable after %s: %s', (code, unavailable) => {
  expect(isDatabaseUnavailable(withCode(code))).toBe(unavailable)
})

test.each([
  ['Connection terminated unexpectedly', true],
  ['Connection terminated due to connection timeout', true],
  ['timeout exceeded when trying to connect', true],
  ['timeout expired', true],
  ['Client has encountered a connection error and is not queryable', true],
  ['Client was closed and is not queryable', true],
  ["Cannot read properties of undefined (reading 'id')", false],
])('the database is unavailable after "%s": %s', (message, unavailable) => {
  expect(isDatabaseUnavailable(new Error(message))).toBe(unavailable)
})
