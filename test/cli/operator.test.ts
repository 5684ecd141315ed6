import { pino } from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import { readConfig } from '../../src/platform/config.ts'
import { startService } from '../../src/start.ts'
import { atEnd } from '../support/at-end.ts'
import { auditRows } from '../support/audit.ts'
import { query } from '../support/query.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { ENCRYPTION_KEY, errorOf, newDatabase, type Replica, replica, temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

const production = { ENVIRONMENT: 'production', REGION: 'eu' }

let database: string
let cli: ReturnType<typeof assay>
let first: { org_id: string; team_id: string; team_api_key: string; management_key: string }
let service: Replica
beforeAll(async () => {
  database = await newDatabase()
  cli = assay(database, production)
  first = JSON.parse((await cli.spawnCommand('bootstrap', '--org', 'Lagoon Health', '--team', 'Lagoon', '--json')).out)
  service = await replica({ database, env: production })
  await service.connect()
})

const api = (key = first.team_api_key) => createClient(service.base, { 'x-service-api-key': key })
const admin = (key = first.management_key) => createClient(service.base, { 'x-management-key': key })
const operatorRows = async () =>
  (
    await query<{ action: string; subject: string | null }>(
      database,
      `select action, subject from ${auditRows} where actor_kind = 'operator' order by at, id`,
    )
  ).map(({ action, subject }) => [action, subject])
const lastOperatorRow = async () => (await operatorRows()).at(-1)

/** Starts the service like `assay serve`. */
async function startOn(database: string, env: Record<string, string>) {
  const settings = { DATABASE_URL: database, ENCRYPTION_KEY, DATA_DIR: temporaryFolder(), PORT: '0', ...env }
  const service = await startService(readConfig(settings), pino({ level: 'silent' }))
  atEnd(service.close)
  return service
}

describe('bootstrap', () => {
  test('creates working keys on an empty production database', async () => {
    expect(first).toEqual({
      org_id: expect.any(String),
      team_id: expect.any(String),
      team_api_key: expect.stringMatching(/^pk_eu_[0-9A-Za-z]{46}$/),
      management_key: expect.stringMatching(/^mg_[0-9A-Za-z]{46}$/),
    })
    expect((await api().createUser({ body: { client_user_id: newUuid() } })).team_id).toBe(first.team_id)
    expect(await admin().getOrg({ params: first })).toMatchObject({ id: first.org_id, name: 'Lagoon Health', plan: 'scale' })
    expect((await operatorRows())[0]).toEqual(['operator bootstrap', `org_id:${first.org_id} team_id:${first.team_id}`])
  })

  test('prints the keys', async () => {
    const { code, out, err } = await assay(await newDatabase(), production).run('bootstrap', '--org', 'Reef', '--team', 'Reef one')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/team API key +pk_eu_\w{46}\nmanagement key +mg_\w{46}\n\nSave the keys now/)
  })

  test('invites the first person, who can acknowledge critical results in the console', async () => {
    const names = ['--org', 'Reef', '--team', 'Reef one', '--email', 'keeper@reef.example']
    const reef = assay(await newDatabase(), production)
    const { invitation } = await reef.json('bootstrap', ...names)
    expect(invitation).toMatch(/\/console\/invitation#\S+$/)
    const { out } = await assay(await newDatabase(), production).run('bootstrap', ...names)
    expect(out).toMatch(/^first person {4}http\S+\/console\/invitation#\S+$/m)
  })

  test('uses the keys of BOOTSTRAP_TEAM_API_KEY and BOOTSTRAP_MANAGEMENT_KEY', async () => {
    const fixed = { BOOTSTRAP_TEAM_API_KEY: 'fixed-team-key-of-ours', BOOTSTRAP_MANAGEMENT_KEY: 'fixed-management-key-of-ours' }
    const created = await assay(await newDatabase(), { ...production, ...fixed }).json(
      'bootstrap',
      ...['--org', 'Reef', '--team', 'Reef one', '--plan', 'launch'],
    )
    expect(created).toMatchObject({ team_api_key: 'fixed-team-key-of-ours', management_key: 'fixed-management-key-of-ours' })
  })

  test('rejects a fixed key of another deployment', async () => {
    const fixed = { BOOTSTRAP_TEAM_API_KEY: 'sk_us_of-another-deployment', BOOTSTRAP_MANAGEMENT_KEY: 'fixed-management-key-of-ours' }
    const empty = await newDatabase()
    const { code, out, err } = await assay(empty, { ...production, ...fixed }).run('bootstrap', '--org', 'Reef', '--team', 'Reef one')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('BOOTSTRAP_TEAM_API_KEY belongs to the sandbox us deployment')
    expect((await assay(empty, production).run('org')).err).toContain('The database is empty')
  })

  test('fails the second time and changes nothing', async () => {
    const rows = await operatorRows()
    const { code, out, err } = await cli.run('bootstrap', '--org', 'Again', '--team', 'Again')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('already has an organization')
    expect(await operatorRows()).toEqual(rows)
    expect(await cli.json('org')).toHaveLength(1)
  })

  test('creates one organization if run twice at once', async () => {
    const empty = await newDatabase()
    const twice = ['One', 'Two'].map((name) => assay(empty, production).spawnCommand('bootstrap', '--org', name, '--team', name))
    expect((await Promise.all(twice)).map(({ code }) => code).sort()).toEqual([0, 1])
    expect(await assay(empty, production).json('org')).toHaveLength(1)
  })

  test('fails after the last team is deleted, while the service starts and keys can be managed', async () => {
    const empty = await newDatabase()
    const cli = assay(empty, production)
    const created = await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
    const { listening: base } = await startOn(empty, production)
    await createClient(base, { 'x-management-key': created.management_key }).deleteTeam({ params: created })
    expect((await fetch(`${(await startOn(empty, production)).listening}/ready`)).status).toBe(200)
    expect((await cli.run('bootstrap', '--org', 'Again', '--team', 'Again')).code).toBe(1)
    expect(await cli.json('keys', 'list')).toMatchObject({ team_api_keys: [], management_keys: [{ label: 'first start' }] })
    expect(await cli.run('keys', 'create', '--kind', 'team', '--label', 'x')).toMatchObject({ code: 1, out: '' })
    const { key } = await cli.json('keys', 'create', '--kind', 'org_admin', '--label', 'again')
    const admin = createClient(base, { 'x-management-key': key })
    expect(await admin.createTeam({ params: created, body: { name: 'Two', region: 'eu' } })).toMatchObject({ name: 'Two' })
  })
})

test('a sandbox without a team starts with a new team in the same organization', async () => {
  const empty = await newDatabase()
  const env = { DATA_DIR: temporaryFolder() }
  const { listening, credentials } = await startOn(empty, env)
  const admin = createClient(listening, { 'x-management-key': credentials.management_key as string })
  await admin.deleteTeam({ params: { org_id: credentials.org_id as string, team_id: credentials.team_id as string } })
  const again = await startOn(empty, env)
  expect(again.credentials.org_id).toBe(credentials.org_id)
  expect(again.credentials.team_id).not.toBe(credentials.team_id)
  const api = createClient(again.listening, { 'x-service-api-key': again.credentials.team_api_key as string })
  expect(await api.listUsers()).toMatchObject({ total: 0 })
})

describe('org', () => {
  test('shows the organization', async () => {
    const { out } = await cli.run('org')
    expect(out).toContain(first.org_id)
    expect(out).toContain('Lagoon Health')
  })

  test('sets the plan, which closes and opens the management API', async () => {
    await cli.run('org', '--plan', 'launch')
    expect(await errorOf(admin().getOrg({ params: first }))).toMatchObject({ status: 403, detail: { error_type: 'PLAN_REQUIRED' } })
    await api().listUsers()
    expect(await cli.json('org', '--org', first.org_id, '--plan', 'scale')).toMatchObject([{ id: first.org_id, plan: 'scale' }])
    await admin().getOrg({ params: first })
    expect(await lastOperatorRow()).toEqual(['operator set plan', `org_id:${first.org_id}`])
  })

  test('rejects an unknown organization or plan', async () => {
    expect(await cli.run('org', '--org', newUuid(), '--plan', 'grow')).toMatchObject({ code: 1, out: '' })
    expect(await cli.run('org', '--plan', 'gold')).toMatchObject({ code: 2, err: expect.stringContaining('launch, grow, scale') })
  })
})

describe('team', () => {
  const betas = async () => (await query<{ betas: string[] }>(database, 'select betas from teams where id = $1', [first.team_id]))[0]?.betas

  test('lists the teams', async () => {
    expect(await cli.json('team')).toMatchObject([{ id: first.team_id, name: 'Lagoon', betas: [] }])
    expect((await cli.run('team')).out).toBe(`${first.team_id}  Lagoon  -\n`)
  })

  test('sets and removes the fixed rate of a team', async () => {
    const limit = (...options: string[]) => cli.json('team', 'limit', '--team', first.team_id, ...options)
    expect(await limit('--rate', '20', '--burst', '40')).toMatchObject({ rate_limit: { requests_per_second: 20, burst: 40 } })
    expect(await lastOperatorRow()).toEqual(['operator set rate limit', `team_id:${first.team_id}`])
    const { headers } = await sendRaw(`${service.base}/v2/user`, 'GET', { headers: { 'x-service-api-key': first.team_api_key } })
    expect(headers.get('ratelimit-policy')).toBe('"team";q=40;w=2')
    expect(await limit('--rate', '0')).toMatchObject({ rate_limit: null })
    expect(await cli.run('team', 'limit', '--team', newUuid(), '--rate', '1')).toMatchObject({ code: 1 })
  })

  test('creates a key with a fixed rate', async () => {
    const { rate_limit } = await cli.json('keys', 'create', '--kind', 'team', '--label', 'slow', '--rate', '2')
    expect(rate_limit).toEqual({ requests_per_second: 2 })
    expect(await cli.run('keys', 'create', '--kind', 'team', '--label', 'slow', '--burst', '2')).toMatchObject({ code: 2 })
  })

  test('enables exactly the given betas', async () => {
    expect(await cli.json('team', '--team', first.team_id, '--betas', 'one, two')).toMatchObject({ betas: ['one', 'two'] })
    expect(await betas()).toEqual(['one', 'two'])
    expect(await lastOperatorRow()).toEqual(['operator set betas', `team_id:${first.team_id}`])
    expect((await cli.run('team', '--team', first.team_id, '--betas', '')).out).toMatch(/Lagoon {2}-$/m)
    expect(await betas()).toEqual([])
  })

  test('rejects an unknown team and records no change', async () => {
    const rows = await operatorRows()
    expect(await cli.run('team', '--team', newUuid(), '--betas', 'one')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('No team has this ID'),
    })
    expect(await operatorRows()).toEqual(rows)
  })
})

describe('keys', () => {
  test('creates a team key, lists it by its prefix and revokes it immediately', async () => {
    const { key } = await cli.json('keys', 'create', '--kind', 'team', '--label', 'from the shell')
    await api(key).createUser({ body: { client_user_id: newUuid() } })
    await service.runJobs()
    const listed = await cli.run('keys', 'list')
    const line = listed.out.split('\n').find((line) => line.includes(key.slice(0, 12))) as string
    expect(line).toMatch(/from the shell +[0-9a-f-]{36} {2}2\d{3}-\S+ +never$/)
    expect(listed.out).not.toContain(key)
    const id = line.split(' ')[0] as string
    expect(await lastOperatorRow()).toEqual(['operator create team key', `key_id:${id}`])
    expect(await cli.run('keys', 'revoke', '--id', id)).toMatchObject({ code: 0, out: `revoked ${id}\n` })
    expect(await errorOf(api(key).listUsers())).toMatchObject({ status: 401 })
    expect(await lastOperatorRow()).toEqual(['operator revoke key', `key_id:${id}`])
    expect((await cli.run('keys', 'list')).out).not.toContain(id)
  })

  test('creates a read-only key with an expiry', async () => {
    const expires = '2999-01-01T00:00:00Z'
    const { out } = await cli.run('keys', 'create', '--kind', 'team', '--label', 'reader', '--read-only', '--expires', expires)
    expect(await errorOf(api(out.trim()).createUser({ body: { client_user_id: 'x' } }))).toMatchObject({ status: 403 })
    await api(out.trim()).listUsers()
    expect((await cli.json('keys', 'list')).team_api_keys).toContainEqual(
      expect.objectContaining({ label: 'reader', read_only: true, expires_at: '2999-01-01T00:00:00.000Z' }),
    )
  })

  test('prints the new key with its ID as JSON', async () => {
    const created = await cli.json('keys', 'create', '--kind', 'team', '--label', 'script', '--expires', '2999-01-01T00:00:00Z')
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      key: expect.stringMatching(/^pk_eu_/),
      label: 'script',
      team_id: first.team_id,
      read_only: false,
      expires_at: '2999-01-01T00:00:00.000Z',
      rate_limit: null,
    })
    expect(await cli.json('keys', 'revoke', '--id', created.id)).toEqual({ revoked: created.id })
  })

  test('rejects an unknown key ID', async () => {
    const { err } = await cli.run('keys', 'revoke', '--id', newUuid())
    expect(err).toMatch(/^No active key has this ID/)
  })

  test('rotates a key of each kind and prints the new one', async () => {
    const created = await cli.json('keys', 'create', '--kind', 'team', '--label', 'night shift', '--read-only')
    const rotated = await cli.json('keys', 'rotate', '--id', created.id)
    expect(rotated).toMatchObject({ label: 'night shift', read_only: true, key: expect.stringMatching(/^[sp]k_/) })
    const listed = (await cli.json('keys', 'list')).team_api_keys.map(({ id }: { id: string }) => id)
    expect([listed.includes(created.id), listed.includes(rotated.id)]).toEqual([false, true])
    const manager = await cli.json('keys', 'create', '--kind', 'org_admin', '--label', 'spare')
    expect(await cli.json('keys', 'rotate', '--id', manager.id)).toMatchObject({ label: 'spare', role: 'org_admin' })
    expect(await cli.run('keys', 'rotate', '--id', manager.id)).toMatchObject({
      code: 1,
      err: expect.stringContaining('No live team API key'),
    })
  })

  test('creates and revokes management keys of both roles', async () => {
    const org = (await cli.json('keys', 'create', '--kind', 'org_admin', '--label', 'deputy')).key
    const team = (await cli.json('keys', 'create', '--kind', 'team_admin', '--label', 'nurse', '--team', first.team_id)).key
    expect(await admin(org).getOrg({ params: first })).toMatchObject({ id: first.org_id })
    expect(await errorOf(admin(team).getOrg({ params: first }))).toMatchObject({ status: 403, detail: { error_type: 'ORG_KEY_REQUIRED' } })
    expect(await admin(team).getTeam({ params: first })).toMatchObject({ id: first.team_id })
    const { management_keys } = await cli.json('keys', 'list')
    const { id } = management_keys.find(({ label }: { label: string }) => label === 'deputy')
    expect(await cli.json('keys', 'revoke', '--id', id)).toEqual({ revoked: id })
    expect(await errorOf(admin(org).getOrg({ params: first }))).toMatchObject({ status: 401 })
  })

  test('lists neither keys nor hashes', async () => {
    const listed = await cli.json('keys', 'list')
    expect(JSON.stringify(listed)).not.toMatch(/hash\w*":|(pk_eu|mg)_\w{20}/)
    expect(listed.management_keys[0]).toMatchObject({ label: 'first start', prefix: first.management_key.slice(0, 12), role: 'org_admin' })
  })

  test('does not revoke the last Org Management Key', async () => {
    const database = await newDatabase()
    const cli = assay(database, production)
    await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
    const [{ id }] = (await cli.json('keys', 'list')).management_keys
    expect(await cli.run('keys', 'revoke', '--id', id)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('last Org Management Key'),
    })
  })

  test.each<[string, string[]]>([
    ['a key that does not exist', ['revoke', '--id', newUuid()]],
    ['a team that does not exist', ['create', '--kind', 'team', '--label', 'x', '--team', newUuid()]],
    ['an expiry in the past', ['create', '--kind', 'team', '--label', 'x', '--expires', '2001-01-01T00:00:00Z']],
  ])('rejects %s with one line', async (_, args) => {
    const rows = await operatorRows()
    const { code, out, err } = await cli.run('keys', ...args)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^[^\n]+\n$/)
    expect(await operatorRows()).toEqual(rows)
  })

  test('asks to bootstrap an empty database', async () => {
    const empty = assay(await newDatabase(), production)
    expect(await empty.run('keys', 'list')).toMatchObject({ code: 1, err: expect.stringContaining('assay bootstrap --org NAME') })
  })
})

describe('audit verify', () => {
  test('verifies an intact chain and exits with 0', async () => {
    expect(await cli.run('audit', 'verify')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^intact: \d+ rows, \d+ of them read now, 0 not chained\n$/),
    })
    expect(await cli.json('audit', 'verify')).toMatchObject({ unchained: 0 })
  })

  test('reads only new rows, and all of them with --full', async () => {
    const cli = assay(await newDatabase(), production)
    await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
    expect(await cli.json('audit', 'verify')).toMatchObject({ rows: 1, read: 1 })
    await cli.json('keys', 'create', '--kind', 'team', '--label', 'a')
    expect(await cli.json('audit', 'verify')).toMatchObject({ rows: 2, read: 1 })
    expect(await cli.json('audit', 'verify', '--full')).toMatchObject({ rows: 2, read: 2 })
  })

  test('reports the first broken row and exits with 1', async () => {
    const database = await newDatabase()
    const cli = assay(database, production)
    await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
    for (const label of ['a', 'b', 'c']) await cli.json('keys', 'create', '--kind', 'team', '--label', label)
    expect((await cli.json('audit', 'verify')).rows).toBe(4)
    await query(database, 'alter table audit_log disable trigger audit_log_append_only')
    await query(database, "update audit_log set action = 'operator nothing' where chain_seq = 2")
    const { code, out } = await cli.run('audit', 'verify', '--full')
    expect(code).toBe(1)
    expect(out).toMatch(/^BROKEN at row 2 /)
    await query(database, 'alter table audit_log enable trigger audit_log_append_only')
    expect(await cli.run('audit', 'verify')).toMatchObject({ code: 1, out })
  })

  test('fails until an operator acknowledges the breaks, and records who did', async () => {
    const database = await newDatabase()
    const cli = assay(database, production)
    await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
    await cli.json('keys', 'create', '--kind', 'team', '--label', 'a')
    await cli.json('audit', 'verify')
    await query(database, 'alter table audit_log disable trigger audit_log_append_only')
    await query(database, 'delete from audit_log where chain_seq = 2')
    expect(await cli.run('audit', 'verify')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^BROKEN at row 2 .* the row is missing/),
    })
    expect(await cli.run('audit', 'acknowledge', '--by', 'two words')).toMatchObject({ code: 2 })
    expect(await cli.run('audit', 'acknowledge', '--by', 'jane.doe')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^acknowledged: BROKEN at row 2 /),
    })
    expect(await cli.run('audit', 'verify')).toMatchObject({ code: 0, out: expect.stringMatching(/1 acknowledged breaks\n$/) })
    expect(await query(database, `select subject from ${auditRows} where action = 'operator audit acknowledge'`)).toEqual([
      { subject: 'seq:2 to:2 by:jane.doe' },
    ])
    expect(await cli.run('audit', 'acknowledge', '--by', 'jane.doe')).toMatchObject({ code: 0, out: 'no open breaks\n' })
    await query(database, 'delete from audit_log where chain_seq = 1')
    expect(await cli.run('audit', 'verify', '--full')).toMatchObject({ code: 1, out: expect.stringMatching(/^BROKEN at rows 1 to 2 /) })
  })
})

describe('lab tests', () => {
  test('lists and approves pending lab tests, with an audit row', async () => {
    await loadCatalog(service.app)
    const body = { name: 'Lagoon panel', description: '', method: 'walk_in_test' as const, marker_ids: [1001] }
    const { id, status } = await api().createLabTest({ body })
    expect(status).toBe('pending_approval')
    expect(await cli.json('lab-tests', 'pending')).toContainEqual({
      id,
      name: 'Lagoon panel',
      method: 'walk_in_test',
      team_id: first.team_id,
      team: 'Lagoon',
    })
    expect((await cli.run('lab-tests', 'pending')).out).toMatch(new RegExp(`${id}  walk_in_test  Lagoon +Lagoon panel`))

    const { code, out } = await cli.run('lab-tests', 'approve', '--id', id)
    expect([code, out.trim()]).toEqual([0, `${id}  active  Lagoon panel`])
    expect(await lastOperatorRow()).toEqual(['operator approve lab test', `lab_test_id:${id}`])
    expect(await api().getLabTest({ params: { lab_test_id: id } })).toMatchObject({ status: 'active', is_active: true })
    expect((await cli.run('lab-tests', 'pending')).out).not.toContain(id)
  })

  test('rejects an unknown lab test', async () => {
    const { code, err } = await cli.run('lab-tests', 'approve', '--id', newUuid())
    expect([code, err.trim()]).toEqual([1, 'No lab test has this ID; list pending ones with: assay lab-tests pending'])
    expect((await cli.run('lab-tests', 'approve', '--id', 'seven')).code).toBe(2)
    expect((await cli.run('lab-tests', 'approve')).code).toBe(2)
  })
})
