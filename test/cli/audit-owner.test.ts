import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { databaseName, joinServers, query as queryOnce } from '../support/databases.ts'
import { directUrl, onEveryServer } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { TEST_ROLE } from '../support/test-role.ts'
import { citusServers, emptyDatabase } from '../support/world.ts'
import { assay } from './assay.ts'

const production = { ENVIRONMENT: 'production' }

/** A role that can own the audit log, and the URLs of an empty database for an ordinary role and for an administrator. */
async function newRoles() {
  const [owner, service, password] = [`assay_test_owner_${process.pid}`, `assay_test_service_${process.pid}`, newUuid()]
  const isOwnServer = process.env['TEST_DATABASE_URL'] !== undefined
  // The database is dropped before the roles that own it, because cleanup runs in reverse order.
  atEnd(async () => {
    for (const server of isOwnServer ? inject('servers') : []) await queryOnce(server, `drop role if exists ${owner}, ${service}`)
  })
  const url = directUrl(await emptyDatabase())
  await onEveryServer(url, `create role ${owner} nologin`)
  if (!isOwnServer) return { owner, asService: url, asAdministrator: `${url}&options=-c%20role%3D${TEST_ROLE}` }
  // The role of your own server is a superuser, so it is the administrator.
  await onEveryServer(url, `create role ${service} login password '${password}'`)
  await onEveryServer(url, `alter database ${databaseName(url)} owner to ${service}`)
  return { owner, asService: Object.assign(new URL(url), { username: service, password }).href, asAdministrator: url }
}

test('the audit log belongs to another role, and the service can only append', async () => {
  const { owner, asService, asAdministrator } = await newRoles()
  const cli = assay(asService, production)
  await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
  if (citusServers().length) {
    await joinServers(citusServers(), databaseName(asService))
    await assay(asAdministrator, production).json('migrate', '--distribute')
  }
  const audited = async () => {
    const { checks } = JSON.parse((await cli.run('doctor', '--quick', '--json')).out)
    return checks.find(({ name }: { name: string }) => name === 'audit owner')
  }
  expect(await audited()).toMatchObject({ state: 'warning' })

  expect(await assay(asService, { ...production, AUDIT_OWNER_ROLE: owner }).run('migrate')).toMatchObject({
    code: 1,
    err: expect.stringContaining('run this command as another role'),
  })
  expect(await assay(asAdministrator, { ...production, AUDIT_OWNER_ROLE: 'assay_test_nobody' }).run('migrate')).toMatchObject({
    code: 1,
    err: expect.stringContaining('CREATE ROLE assay_test_nobody NOLOGIN'),
  })
  const administrator = assay(asAdministrator, { ...production, AUDIT_OWNER_ROLE: owner })
  for (let run = 0; run < 2; run++) expect(await administrator.json('migrate')).toEqual({ ran: [], audit_owner: owner })

  expect(await audited()).toMatchObject({ state: 'ok', text: 'another role owns the audit log' })
  await cli.json('keys', 'create', '--kind', 'team', '--label', 'a')
  expect(await cli.json('audit', 'verify', '--full')).toMatchObject({ rows: 2, unchained: 0 })
  const client = new pg.Client({ connectionString: asService })
  await client.connect()
  const attacks = [
    'alter table audit_log disable trigger user',
    "update audit_log set action = 'nothing'",
    'delete from audit_log',
    'truncate audit_log',
    'alter table audit_outbox disable trigger user',
    "update audit_outbox set action = 'nothing'",
    'delete from audit_outbox',
    'truncate audit_outbox',
    'delete from audit_chains',
    'update audit_chains set seq = 0',
    `set role ${owner}`,
    ...['audit_log_guard', 'audit_outbox_guard'].map(
      (guard) => `create or replace function ${guard}() returns trigger language plpgsql as 'begin return old; end'`,
    ),
  ]
  for (const text of attacks) await expect(client.query(`${text} /* any team: a test */`), text).rejects.toThrow(/denied|must be owner/)
  await client.end()
  expect(await cli.run('audit', 'verify')).toMatchObject({ code: 0 })
})
