import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { auditRows } from '../support/audit.ts'
import { browser, consoleHeaders, cookieOf, fastPasswords, PASSWORD } from '../support/console.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { newDatabase, type Replica, replica, type Tenant, temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

let cli: ReturnType<typeof assay>
let service: Replica
let tenant: Tenant
beforeAll(async () => {
  const database = await newDatabase()
  cli = assay(database)
  service = await replica({ database, env: fastPasswords })
  tenant = await service.tenant()
})

test('invites the first person, then lists and removes them', async () => {
  const { out, code } = await cli.run('people', 'invite', '--email', 'first@harbor.example', '--role', 'org_admin')
  expect(code).toBe(0)
  const token = /^http\S+\/console\/invitation#(iv_\w{46})\n$/.exec(out)?.[1] as string
  const acceptance = { token, name: 'First Member', password: PASSWORD }
  const { totp_secret, setup } = await browser(service.base, '').api.acceptInvitation({ body: acceptance })
  const body = { token, setup, code: codeAt(fromBase32(totp_secret), stepAt(service.app.wall())) }
  const answer = await sendRequest(service.base, endpoints.completeInvitation, { body, headers: consoleHeaders })
  const { send } = browser(service.base, cookieOf(answer.headers))
  expect(await send(endpoints.getSession)).toMatchObject({ status: 200, body: { role: 'org_admin', org: { id: tenant.org_id } } })

  const [person] = await cli.json('people', 'list')
  expect(person).toMatchObject({ name: 'First Member', email: 'first@harbor.example', role: 'org_admin' })
  expect((await cli.run('people', 'list')).out).toMatch(/First Member +first@harbor\.example +/)
  expect((await cli.run('people', 'invite', '--email', 'first@harbor.example')).out).toBe(
    'This person is already a member of the organization.\n',
  )
  expect((await cli.run('people', 'remove', '--id', person.id)).out).toBe(`removed ${person.id}\n`)
  expect((await send(endpoints.getSession)).status).toBe(401)
  const rows = await query<{ action: string }>(service.url, `select action from ${auditRows} where actor_kind = 'operator' order by at`)
  expect(rows.map(({ action }) => action)).toEqual(['operator invite person', 'operator invite person', 'operator remove person'])
})

test.each([
  ['PUBLIC_URL', { PUBLIC_URL: 'https://tide.harbor.example/assay' }, 'https://tide.harbor.example/assay'],
  ['ASSAY_URL', { ASSAY_URL: 'http://127.0.0.1:9310' }, 'http://127.0.0.1:9310'],
  ['the service with the same DATA_DIR', {}, 'http://127.0.0.1:9300'],
])('the link of an invitation leads to %s, wherever the command itself would listen', async (_, env, url) => {
  const DATA_DIR = temporaryFolder()
  writeFileSync(join(DATA_DIR, 'credentials.json'), JSON.stringify({ base_url: 'http://127.0.0.1:9300' }))
  const { link } = await assay(service.url, { DATA_DIR, PORT: '9399', ...env }).json(
    'people',
    'invite',
    '--email',
    `${newUuid()}@harbor.example`,
  )
  expect(link.split('#')[0]).toBe(`${url}/console/invitation`)
})

test.each([
  [['--email', 'nobody'], 2, '--email must be an email address.'],
  [['--email', 'a@harbor.example', '--role', 'king'], 2, '--role must be one of'],
  [['--email', 'a@harbor.example', '--role', 'team_admin'], 1, 'team_role_bindings'],
  [[], 2, '--email is required.'],
])('rejects %j', async (args, code, why) => {
  const ended = await cli.run('people', 'invite', ...args)
  expect(ended.code).toBe(code)
  expect(ended.err).toContain(why)
})

test('does not remove a person who is not a member', async () => {
  const ended = await cli.run('people', 'remove', '--id', tenant.team_id)
  expect([ended.code, ended.err]).toEqual([1, expect.stringContaining('No member of your organization has this ID')])
})

test('invites with the lowest role unless another one is given', async () => {
  await cli.run('people', 'invite', '--email', 'reader@harbor.example')
  const { invites } = await tenant.admin.listInvites({ params: tenant })
  expect(invites.find(({ email }) => email === 'reader@harbor.example')).toMatchObject({ role: 'read_only' })
})
