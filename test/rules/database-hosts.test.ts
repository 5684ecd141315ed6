import { expect, test } from 'vitest'
import { faultOfDatabaseUrl, urlsOfHosts } from '../../src/platform/db/connections/hosts.ts'

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
  'postgres://assay@db-1:5432,db-2:5432/assay?target_session_attrs=read-write',
  'postgres://db-1/assay',
  'postgres:///assay',
  'postgres://assay@db-1/assay?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem',
  'postgres://assay@db-1/assay?sslmode=require&channel_binding=require&connect_timeout=10',
])('%s can be a database URL', (url) => {
  expect(faultOfDatabaseUrl(url)).toBeUndefined()
})

test.each([
  ['postgres://assay@db-1:port,db-2/assay', /^must be a postgres:\/\/ URL/],
  ['postgres://assay@db-1,,db-2/assay', /^must be a postgres:\/\/ URL/],
  ['mysql://db-1/assay', /^must be a postgres:\/\/ URL/],
  ['db-1,db-2', /^must be a postgres:\/\/ URL/],
  ['postgres://assay:pass#word@db-1/assay', /%23 for #/],
  ['postgres://assay@db-1/assay?sslmod=require', /unknown parameter sslmod$/],
  ['postgres://assay@db-1/assay?sslmode=verfy-full', /unknown sslmode; use one of .*verify-full/],
])('%s cannot be a database URL', (url, fault) => {
  expect(faultOfDatabaseUrl(url)).toMatch(fault)
})
