import pg from 'pg'
import { expect, test } from 'vitest'
import { skipUnless } from '../db/support/embedded.ts'
import { query } from '../support/query.ts'
import { TEST_ROLE } from '../support/test-role.ts'
import { citusServers, emptyDatabase, isPooledRun } from '../support/world.ts'
import { assay } from './assay.ts'

const production = { ENVIRONMENT: 'production' }

test('the audit log belongs to another role, and the service can only append', async (context) => {
  skipUnless(context, !citusServers().length && !isPooledRun(), 'the roles exist on the embedded server')
  const asService = await emptyDatabase()
  const asAdministrator = `${asService}${asService.includes('?') ? '&' : '?'}options=-c%20role%3D${TEST_ROLE}`
  const owner = 'assay_test_audit'
  const exists = await query(asService, 'select from pg_roles where rolname = $1', [owner])
  if (!exists.length) await query(asService, `create role ${owner} nologin`)
  const cli = assay(asService, production)
  await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
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
    'delete from audit_chains',
    'update audit_chains set seq = 0',
    `set role ${owner}`,
    "create or replace function audit_log_guard() returns trigger language plpgsql as 'begin return old; end'",
  ]
  for (const text of attacks) await expect(client.query(`${text} /* any team: a test */`), text).rejects.toThrow(/denied|must be owner/)
  await client.end()
  expect(await cli.run('audit', 'verify')).toMatchObject({ code: 0 })
})
