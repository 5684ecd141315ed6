import { expect, test } from 'vitest'
import { isConnectionLost, isDatabaseUnavailable, isUniqueViolation, isUserErased } from '../../src/platform/db/errors.ts'

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
  ['25006', true],
  // Another request changed a row again and again.
  ['AS003', true],
  ['23505', false],
  ['22P02', false],
])('the database is unavailable after %s: %s', (code, unavailable) => {
  expect(isDatabaseUnavailable(withCode(code))).toBe(unavailable)
})

test.each([
  ['FATAL', '57P01', true],
  [undefined, 'ECONNRESET', true],
  // The coordinator of a cluster lost a worker, and its own connection goes on.
  ['ERROR', '08006', false],
])('an error with severity %s and code %s ended the connection: %s', (severity, code, lost) => {
  expect(isConnectionLost({ severity, code })).toBe(lost)
})

test.each([
  ['server conn crashed?', true],
  // The statement was not sent, and another attempt would wait as long.
  ['query_wait_timeout', false],
])('PgBouncer lost the connection to the server if it reports "%s": %s', (message, lost) => {
  expect(isConnectionLost({ severity: 'FATAL', code: '08P01', message })).toBe(lost)
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

// Citus names the constraint of a shard, and only in the message.
test.each([
  ['one server', { code: '23505', constraint: 'people_email', message: 'duplicate key value violates unique constraint "people_email"' }],
  ['a cluster', { code: '23505', message: 'duplicate key value violates unique constraint "people_email_102027"' }],
])('a unique violation on %s is attributed to its index', (_, error) => {
  expect(isUniqueViolation(error)).toBe(true)
  expect(isUniqueViolation(error, 'people_email')).toBe(true)
  expect(isUniqueViolation(error, 'invitations_email')).toBe(false)
})

const violation = (table: string, constraint: string) =>
  `insert or update on table "${table}" violates foreign key constraint "${constraint}"`

test.each([
  ['one server', { constraint: 'orders_team_id_user_id_fkey', message: violation('orders', 'orders_team_id_user_id_fkey') }, true],
  ['a cluster', { message: violation('orders_102295', 'orders_team_id_user_id_fkey_102295') }, true],
  ['a cluster', { message: violation('orders_102295', 'orders_lab_id_fkey_102295') }, false],
])('a foreign key on %s tells whether the user was erased', (_, error, erased) => {
  expect(isUserErased({ code: '23503', ...error })).toBe(erased)
})
