import { expect, test } from 'vitest'
import { isDatabaseUrl, urlsOfHosts } from '../../src/platform/db/connections/hosts.ts'

test('a database URL with several hosts is one URL per host', () => {
  expect(urlsOfHosts('postgres://assay:p%40ss@db-1:5432,db-2:6432/assay?target_session_attrs=read-write&sslmode=require')).toEqual([
    'postgres://assay:p%40ss@db-1:5432/assay?sslmode=require',
    'postgres://assay:p%40ss@db-2:6432/assay?sslmode=require',
  ])
  expect(urlsOfHosts('postgresql://db-1,[::1]:5433/assay?target_session_attrs=read-write')).toEqual([
    'postgresql://db-1/assay',
    'postgresql://[::1]:5433/assay',
  ])
})

test('a database URL with one host or a socket stays as it is', () => {
  for (const url of ['postgres://assay@127.0.0.1:5432/assay', 'postgres://assay:pass@localhost/assay?host=%2Frun%2Fpostgresql'])
    expect(urlsOfHosts(url)).toEqual([url])
})

test.each([
  ['postgres://assay@db-1:5432,db-2:5432/assay', true],
  ['postgres://db-1/assay', true],
  ['postgres://assay@db-1:port,db-2/assay', false],
  ['postgres://assay@db-1,,db-2/assay', false],
  ['postgres:///assay', true],
  ['mysql://db-1/assay', false],
  ['db-1,db-2', false],
])('%s is a database URL: %s', (url, valid) => {
  expect(isDatabaseUrl(url)).toBe(valid)
})
