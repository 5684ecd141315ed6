import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { auditRow, newAuditBatch } from '../../src/tenants/audit/actions.ts'
import { linkAudit } from '../../src/tenants/audit/chain.ts'
import { DEPLOYMENT_CHAIN } from '../../src/tenants/audit/rules.ts'
import { verifyAudit } from '../../src/tenants/audit/verification.ts'
import { ensureTeamKey } from '../../src/tenants/keys/actions.ts'
import { auditRows } from '../support/audit.ts'
import { someInfo, someInsurance } from '../support/people.ts'
import { query } from '../support/query.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newApiKey, newUuid } from '../support/seeded.ts'
import { anyTeamOfTest } from '../support/test-role.ts'
import { newSandboxDatabase, type Replica, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

type AuditRow = Record<'id' | 'action' | 'subject' | 'team_id' | 'org_id' | 'actor_kind' | 'actor_id', string | null> & { status: number }

const auditRowsOf = (request_id: string) =>
  query<AuditRow>(
    w.url,
    `select id, action, subject, status, team_id, org_id, actor_kind, actor_id from ${auditRows} where request_id = $1`,
    [request_id],
  )

type RequestOptions = { params?: object; query?: object; body?: unknown; headers?: Record<string, string>; key?: string }

/** Sends one request and returns its response with the audit rows it wrote. */
async function sendAudited(row: Row, { key = w.team_api_key, headers, ...options }: RequestOptions = {}) {
  const request_id = newUuid()
  const name = row.auth === 'management' ? 'x-management-key' : 'x-service-api-key'
  const { status, body } = await sendRequest(w.base, row, { ...options, headers: { [name]: key, 'x-request-id': request_id, ...headers } })
  return { status, body: body as Record<string, string>, rows: await auditRowsOf(request_id) }
}

const userBody = () => ({ client_user_id: `user-${newUuid()}` })

describe('audit rows', () => {
  test('record one row per request, including reads, searches, changes and rejections', async () => {
    const user = await w.api.createUser({ body: userBody() })
    const other = await w.api.createUser({ body: userBody() })
    const params = { user_id: user.user_id }
    const subject = `user_id:${user.user_id}`
    const unknown = newUuid()
    const [{ id: actor_id } = { id: '' }] = await query<{ id: string }>(w.url, 'select id from team_api_keys where team_id = $1', [
      w.team_id,
    ])

    const requests: [Row, RequestOptions, { action: string; subject: string | null; status: number }][] = [
      [endpoints.getUser, { params }, { action: 'getUser', subject, status: 200 }],
      [endpoints.getUser, { params: { user_id: user.user_id.toUpperCase() } }, { action: 'getUser', subject, status: 200 }],
      [endpoints.resolveUser, { params: user }, { action: 'resolveUser', subject, status: 200 }],
      [endpoints.listUsers, { query: { limit: 1 } }, { action: 'listUsers', subject: `user_id:${other.user_id}`, status: 200 }],
      [endpoints.searchUsers, { query: { query_id: user.client_user_id } }, { action: 'searchUsers', subject, status: 200 }],
      [endpoints.findPeople, { body: { query: 'nobody' } }, { action: 'findPeople', subject: null, status: 200 }],
      [endpoints.patchUser, { params, body: { fallback_time_zone: 'UTC' } }, { action: 'patchUser', subject, status: 204 }],
      [endpoints.putUserInfo, { params, body: someInfo() }, { action: 'putUserInfo', subject, status: 200 }],
      [endpoints.getUserInfo, { params }, { action: 'getUserInfo', subject, status: 200 }],
      [endpoints.getInsurance, { params }, { action: 'getInsurance', subject, status: 404 }],
      [endpoints.createInsurance, { params, body: someInsurance() }, { action: 'createInsurance', subject, status: 200 }],
      [endpoints.createInsurance, { params, body: {} }, { action: 'createInsurance', subject, status: 422 }],
      [endpoints.patchUser, { params, body: {} }, { action: 'patchUser', subject, status: 400 }],
      [endpoints.patchUser, { params, body: { client_user_id: other.client_user_id } }, { action: 'patchUser', subject, status: 409 }],
      [endpoints.getUser, { params: { user_id: unknown } }, { action: 'getUser', subject: `user_id:${unknown}`, status: 404 }],
      [endpoints.getUser, { params: { user_id: 'no-id' } }, { action: 'getUser', subject: null, status: 422 }],
      [endpoints.createUser, { body: { client_user_id: user.client_user_id } }, { action: 'createUser', subject: null, status: 400 }],
      [endpoints.deleteUser, { params }, { action: 'deleteUser', subject, status: 200 }],
      [endpoints.undoDeleteUser, { query: { client_user_id: user.client_user_id } }, { action: 'undoDeleteUser', subject, status: 200 }],
      [endpoints.resetClock, {}, { action: 'resetClock', subject: null, status: 200 }],
    ]
    for (const [row, options, expected] of requests) {
      const { status, rows } = await sendAudited(row, options)
      expect({ ...expected, responseStatus: status, rows }).toEqual({
        ...expected,
        responseStatus: expected.status,
        rows: [{ id: expect.any(String), ...expected, team_id: w.team_id, org_id: w.org_id, actor_kind: 'team_key', actor_id }],
      })
    }
  })
  test('record the ID of a created user as the subject', async () => {
    const { body, rows } = await sendAudited(endpoints.createUser, { body: userBody() })
    expect(rows).toMatchObject([{ action: 'createUser', subject: `user_id:${body['user_id']}`, status: 200 }])
  })
  test('ignore a user_id that the contract does not define', async () => {
    const [user, other] = [await w.api.createUser({ body: userBody() }), await w.api.createUser({ body: userBody() })]
    const resolved = await sendAudited(endpoints.resolveUser, { params: user, query: { user_id: newUuid() } })
    expect(resolved.rows).toMatchObject([{ subject: `user_id:${user.user_id}` }])
    const created = await sendAudited(endpoints.createUser, { body: { ...userBody(), user_id: other.user_id } })
    expect(created.rows).toMatchObject([{ subject: `user_id:${created.body['user_id']}` }])
    expect(created.body['user_id']).not.toBe(other.user_id)
  })
  test('attribute access token requests to the management key that created the token', async () => {
    const [managementKey] = (await w.admin.listManagementKeys({ params: w })).data
    const { access_token } = await w.admin.createAccessToken({ params: w, body: { env: 'sandbox' } })
    const { rows } = await sendAudited(endpoints.listUsers, { key: '', headers: { authorization: `Bearer ${access_token}` } })
    expect(rows).toMatchObject([{ actor_kind: 'access_token', actor_id: managementKey?.id, team_id: w.team_id, status: 200 }])
  })
  test('record the IDs of created keys, created teams and revoked keys as the subject', async () => {
    const { management_key: key, org_id, team_id } = await w.tenant()
    const params = { org_id, env: 'sandbox', region: 'us' }
    const created = [
      await sendAudited(endpoints.createTeamKey, { key, params, body: { label: 'one', team_id } }),
      await sendAudited(endpoints.createTeamKey, { key, params, body: { label: 'two', team_id } }),
      await sendAudited(endpoints.createManagementKey, { key, params, body: { label: 'backup', role: 'org_admin' } }),
      await sendAudited(endpoints.createTeam, { key, params, body: { name: 'Second', region: 'us' } }),
    ]
    for (const { body, rows } of created) expect(rows).toMatchObject([{ subject: `id:${body['id']}`, status: 200 }])
    const api_key_id = created.slice(0, 2).map(({ body }) => body['id'])
    const { rows } = await sendAudited(endpoints.deleteTeamKeys, { key, params, query: { api_key_id } })
    expect(rows).toMatchObject([{ subject: api_key_id.map((id) => `api_key_id:${id}`).join(' '), status: 200 }])
  })
  test('record up to 50 users of a list, and the total when there are more', async () => {
    const { api, team_api_key: key } = await w.tenant()
    const body = () => ({ client_user_id: `ward-${newUuid()}` })
    const users = await Promise.all(Array.from({ length: 51 }, () => api.createUser({ body: body() })))
    const subjects = async (row: Row, query: object) => (await sendAudited(row, { key, query })).rows[0]?.subject?.split(' ')
    const first = (await api.listUsers({ query: { limit: 2 } })).users.map(({ user_id }) => `user_id:${user_id}`)
    expect(await subjects(endpoints.listUsers, { limit: 2 })).toEqual(first)
    const listed = await subjects(endpoints.listUsers, {})
    expect([listed?.length, listed?.at(-1)]).toEqual([51, 'users:51'])
    const found = await subjects(endpoints.searchUsers, { query_id: 'ward-' })
    expect(found).toHaveLength(50)
    expect(users.map(({ user_id }) => `user_id:${user_id}`)).toEqual(expect.arrayContaining(found ?? []))
  })
  test.each<[string, number, string, string]>([
    ['is not JSON', 422, 'application/json', '{'],
    ['has an unsupported content type', 415, 'text/plain', 'hello'],
    ['is too large', 413, 'application/json', JSON.stringify({ client_user_id: 'x'.repeat(1_100_000) })],
  ])('record a rejected request whose body %s', async (_, status, type, body) => {
    const request_id = newUuid()
    const headers = { 'x-service-api-key': w.team_api_key, 'x-request-id': request_id, 'content-type': type }
    expect((await sendRaw(`${w.base}/v2/user`, 'POST', { headers, body })).status).toBe(status)
    expect(await auditRowsOf(request_id)).toMatchObject([{ action: 'createUser', status, team_id: w.team_id, subject: null }])
  })
  test('record a replay with the same subject and a conflicting replay as 409', async () => {
    const options = { body: userBody(), headers: { 'x-idempotency-key': newUuid() } }
    const first = await sendAudited(endpoints.createUser, options)
    const second = await sendAudited(endpoints.createUser, options)
    expect(second.body).toEqual(first.body)
    for (const { rows } of [first, second])
      expect(rows).toMatchObject([{ action: 'createUser', subject: `user_id:${first.body['user_id']}`, status: 200 }])
    const other = await sendAudited(endpoints.createUser, { ...options, body: userBody() })
    expect(other.rows).toMatchObject([{ status: 409 }])
  })
  test('record a 403 for a valid key without permission', async () => {
    const team_api_key = newApiKey('sk_us_')
    await ensureTeamKey(w.app, team_api_key, { label: 'reader', team_id: w.team_id, read_only: true })
    const refused = await sendAudited(endpoints.createUser, { key: team_api_key, body: userBody() })
    expect(refused).toMatchObject({ status: 403, rows: [{ action: 'createUser', status: 403, team_id: w.team_id }] })
    const launch = await w.tenant({ plan: 'launch' })
    const gated = await sendAudited(endpoints.listTeams, { key: launch.management_key, params: { org_id: launch.org_id } })
    expect(gated).toMatchObject({
      status: 403,
      rows: [{ action: 'listTeams', status: 403, actor_kind: 'management_key', org_id: launch.org_id }],
    })
  })
  test('record requests to unaudited endpoints only when they are rejected', async () => {
    const rows = Object.entries(endpoints as Record<string, Row>).filter(([, row]) => row.unaudited)
    expect(rows.map(([name]) => name).sort()).toEqual([
      'convertCompendium',
      'getAreaInfo',
      'getClock',
      'getMarker',
      'getPscInfo',
      'getSession',
      'listCenterCancellationReasons',
      'listHomeCancellationReasons',
      'listLabs',
      'listMarkers',
      'listSources',
      'searchCompendium',
      'searchDiagnoses',
      'searchOrderableTests',
    ])
    for (const [, row] of rows)
      expect((row.method === 'get' || row.reads === true) && !/user_id|order_id|team_id|org_id/.test(row.path)).toBe(true)
    for (const [row, options] of [
      [endpoints.getClock, {}],
      [endpoints.listSources, {}],
      [endpoints.listLabs, {}],
      [endpoints.listMarkers, {}],
      [
        endpoints.getMarker,
        { params: { lab_id: 1, provider_id: (await w.api.listMarkers({ query: { lab_id: [1] } })).markers[0]?.provider_id } },
      ],
      [endpoints.searchDiagnoses, { query: { diagnosis_query: 'E11' } }],
    ] as [Row, RequestOptions][])
      expect(await sendAudited(row, options)).toMatchObject({ status: 200, rows: [] })
    const refused = await sendAudited(endpoints.searchDiagnoses, { query: { diagnosis_query: 'E' } })
    expect(refused).toMatchObject({ status: 422, rows: [{ action: 'searchDiagnoses', status: 422, team_id: w.team_id }] })
  })
  test('skip unauthenticated requests', async () => {
    const { status, rows } = await sendAudited(endpoints.getUser, { key: `sk_us_${'x'.repeat(30)}`, params: { user_id: newUuid() } })
    expect([status, rows]).toEqual([401, []])
  })
  test('omit the subject instead of recording an unknown client_user_id', async () => {
    const { rows } = await sendAudited(endpoints.resolveUser, { params: { client_user_id: 'ward-seven' } })
    expect(rows).toMatchObject([{ status: 404, subject: null }])
  })
  test('are written before the response under 200 concurrent requests', async () => {
    const user = await w.api.createUser({ body: userBody() })
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        i % 4
          ? sendAudited(endpoints.getUser, { params: { user_id: user.user_id } })
          : sendAudited(endpoints.createUser, { body: userBody() }),
      ),
    )
    expect(all.filter(({ status, rows }) => status !== 200 || rows.length !== 1)).toEqual([])
  })
})

test('writes 7,000 audit rows submitted at once', async () => {
  const { app, advanceTime } = await replica({ database: await newSandboxDatabase() })
  const audit = newAuditBatch(app)
  await Promise.all(Array.from({ length: 7000 }, () => audit(auditRow(app, { kind: 'operator' }, { action: 'test', status: 200 }))))
  advanceTime(MINUTE + 1)
  expect((await verifyAudit(app)).unchained).toBe(7000)
})

describe('a change and its audit row', () => {
  test('roll back together', async () => {
    const instance = await replica({ database: await newSandboxDatabase() })
    const { api, team_api_key } = await instance.tenant()
    const user = await api.createUser({ body: userBody() })
    await query(instance.url, "create function no_log() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$")
    await query(instance.url, 'create trigger no_log before insert on audit_outbox for each row execute function no_log()')
    const headers = { 'x-service-api-key': team_api_key }
    const responses = [
      await sendRequest(instance.base, endpoints.createUser, { body: userBody(), headers }),
      await sendRequest(instance.base, endpoints.deleteUser, { params: user, headers }),
      await sendRequest(instance.base, endpoints.getUser, { params: user, headers }),
    ]
    expect(responses.map(({ status }) => status)).toEqual([500, 500, 500])
    await query(instance.url, 'drop trigger no_log on audit_outbox')
    expect(await api.listUsers()).toMatchObject({ total: 1, users: [{ user_id: user.user_id }] })
  })
})

describe('the audit chains', () => {
  let tampered: Replica & Pick<Tenant, 'api' | 'team_id' | 'org_id'>
  /** The chain of the team. It has five rows, and the deployment's chain has one that lists it. */
  let chain: string
  beforeAll(async () => {
    const instance = await replica({ database: await newSandboxDatabase() })
    tampered = { ...instance, ...(await instance.tenant()) }
    chain = `chain_id = '${tampered.team_id}'`
    for (let i = 0; i < 5; i++) await tampered.api.createUser({ body: userBody() })
    await tampered.runJobs()
  })

  /** Verifies the chains after privileged statements changed the tables and the job ran, then rolls the statements back. */
  async function verifyAfter(...statements: string[]) {
    const db = await tampered.app.db.startTransaction().execute()
    try {
      // In a cluster, the trigger is disabled on every server, one after another.
      await sql`set local citus.enable_unsafe_triggers = on; set local citus.multi_shard_modify_mode = sequential`.execute(db)
      await sql`alter table audit_log disable trigger audit_log_append_only`.execute(db)
      for (const statement of statements) await sql.raw(statement).execute(db)
      const app = { ...tampered.app, db, transaction: true as const }
      while (await linkAudit(app));
      return await verifyAudit(app)
    } finally {
      await db.rollback().execute()
    }
  }
  const idAt = async (seq: number) =>
    (
      await tampered.app.db
        .selectFrom('audit_log')
        .modifyFront(anyTeamOfTest)
        .select('id')
        .where('chain_id', '=', tampered.team_id)
        .where('chain_seq', '=', seq)
        .executeTakeFirst()
    )?.id

  test('are built by the job in chronological order and verify as intact', async () => {
    const growing = await replica({ database: await newSandboxDatabase() })
    const { api, team_id } = await growing.tenant()
    expect(await verifyAudit(growing.app)).toEqual({ rows: 0, read: 0, unchained: 0 })
    for (let i = 0; i < 3; i++) await api.createUser({ body: userBody() })
    growing.advanceTime(MINUTE + 1)
    await api.listUsers()
    expect(await verifyAudit(growing.app)).toEqual({ rows: 0, read: 0, unchained: 3 })
    await growing.runJobs()
    await api.listUsers()
    expect(await verifyAudit(growing.app)).toEqual({ rows: 5, read: 5, unchained: 0 })
    await growing.runJobs()
    expect(await verifyAudit(growing.app)).toEqual({ rows: 6, read: 1, unchained: 0 })
    expect(await verifyAudit(growing.app, { full: true })).toEqual({ rows: 6, read: 6, unchained: 0 })
    const chained = await growing.app.db
      .selectFrom('audit_log')
      .modifyFront(anyTeamOfTest)
      .select(['chain_seq', 'chain_hash'])
      .where('chain_id', '=', team_id)
      .orderBy('at')
      .orderBy('id')
      .execute()
    expect(chained.map((row) => [row.chain_seq, row.chain_hash?.length])).toEqual([1, 2, 3, 4, 5].map((seq) => [seq, 32]))
  })
  test('belong to a team, to an organization and to the deployment', async () => {
    const instance = await replica({ database: await newSandboxDatabase() })
    const tenant = await instance.tenant()
    await tenant.api.listUsers()
    await tenant.admin.getOrg({ params: tenant })
    await instance.runJobs()
    const lengths = await query<{ chain_id: string; seq: number }>(instance.url, 'select chain_id, seq from audit_chains')
    expect(new Map(lengths.map(({ chain_id, seq }) => [chain_id, seq]))).toEqual(
      new Map([
        [DEPLOYMENT_CHAIN, 2],
        [tenant.org_id, 1],
        [tenant.team_id, 1],
      ]),
    )
  })
  test('are built over several batches by two replicas at once', async () => {
    const first = await replica({ database: await newSandboxDatabase() })
    const second = await replica({ database: first.url })
    const audit = newAuditBatch(first.app)
    const chains = Array.from({ length: 4 }, newUuid)
    const rowOf = (n: number) => auditRow(first.app, { kind: 'operator' }, { action: 'test', status: 200, team_id: chains[n % 4] })
    await Promise.all(Array.from({ length: 6000 }, (_, n) => audit(rowOf(n))))
    await Promise.all([first.runJobs(), second.runJobs()])
    await first.runJobs()
    expect(await verifyAudit(second.app)).toEqual({ rows: 6004, read: 6004, unchained: 0 })
  })
  test('are verified by an organization for its own teams, including erased ones', async () => {
    const instance = await world()
    const [mine, other] = [await instance.tenant(), await instance.tenant()]
    for (const { api } of [mine, other, other]) await api.listUsers()
    await mine.admin.deleteTeam({ params: mine })
    instance.advanceTime(8 * DAY)
    await instance.runJobs()
    expect(await mine.admin.verifyAuditLog({ params: mine })).toMatchObject({ intact: true, rows: 3, unchained: 0 })
    expect(await other.admin.verifyAuditLog({ params: other })).toMatchObject({ intact: true, rows: 2, unchained: 0 })
  })
  test.each([
    "action = 'getUser'",
    'status = 404',
    "subject = 'user_id:nobody'",
    "actor_id = '00000000-0000-4000-8000-000000000000'",
    "at = '2020-01-01T00:00:00Z'",
    'chain_hash = sha256(chain_hash)',
  ])('report the row changed with %s', async (change) => {
    const broken = { chain_id: tampered.team_id, seq: 3, to: 3, id: await idAt(3), reason: 'the row was changed' }
    expect(await verifyAfter(`update audit_log set ${change} where ${chain} and chain_seq = 3`)).toEqual({
      rows: 5,
      read: 6,
      unchained: 0,
      broken,
      breaks: [broken],
    })
  })
  test('report a row deleted from the middle', async () => {
    const { broken } = await verifyAfter(`delete from audit_log where ${chain} and chain_seq = 2`)
    expect(broken).toMatchObject({ seq: 2, to: 2, reason: 'the row is missing' })
  })
  test('report the rows deleted from the end', async () => {
    const { broken } = await verifyAfter(`delete from audit_log where ${chain} and chain_seq > 3`)
    expect(broken).toMatchObject({ seq: 4, to: 5, reason: 'the row is missing' })
  })
  test('report an inserted row', async () => {
    const { broken } = await verifyAfter(
      `update audit_log set chain_seq = chain_seq + 100 where ${chain} and chain_seq > 2`,
      `insert into audit_log (chain_id, id, at, actor_kind, action, status, mac, chain_seq, chain_hash)
         values ('${tampered.team_id}', gen_random_uuid(), now(), 'operator', 'getUser', 200, '', 3, sha256('x'))`,
      `update audit_log set chain_seq = chain_seq - 99 where ${chain} and chain_seq > 100`,
    )
    expect(broken).toMatchObject({ seq: 3, reason: 'the row was changed' })
  })

  const DELETE_CHAIN = 'delete from audit_log where CHAIN'
  const DELETE_HEAD = 'delete from audit_chains where CHAIN'
  const ADD_ROW = `insert into audit_outbox (chain_id, id, at, actor_kind, action, status, mac) values (TEAM, gen_random_uuid(), now(), 'job', 'later', 200, '')`
  const UNLIST = `delete from audit_log where chain_id = '${DEPLOYMENT_CHAIN}' and id = TEAM`

  test.each([
    ['the head is rolled back', ['update audit_chains set seq = 3 where CHAIN'], 6],
    [
      'the head is rolled back with its rows',
      ['delete from audit_log where CHAIN and chain_seq > 3', 'update audit_chains set seq = 3 where CHAIN'],
      4,
    ],
    [
      'a row follows a rollback',
      ['delete from audit_log where CHAIN and chain_seq > 3', 'update audit_chains set seq = 3 where CHAIN', ADD_ROW],
      4,
    ],
    ['the head is replaced', ['update audit_chains set mac = sha256(mac) where CHAIN'], 6],
    ['the head is removed', [DELETE_HEAD], 6],
    ['the chain is removed', [DELETE_CHAIN, DELETE_HEAD], 1],
    ['a row follows the removal of the chain', [DELETE_CHAIN, DELETE_HEAD, ADD_ROW], 1],
    ['the chain is removed where it is listed, too', [DELETE_CHAIN, DELETE_HEAD, UNLIST], 1],
    ['only the listing is removed', [UNLIST], 1],
    ["the deployment's head is removed", [`delete from audit_chains where chain_id = '${DEPLOYMENT_CHAIN}'`], 2],
    [
      'everything is removed',
      ['delete /* any team: a test */ from audit_log', 'delete /* any team: a test */ from audit_chains', ADD_ROW],
      1,
    ],
  ])('report the position of the break when %s', async (_, statements, seq) => {
    const named = statements.map((text) => text.replaceAll('CHAIN', chain).replaceAll('TEAM', `'${tampered.team_id}'`))
    expect((await verifyAfter(...named)).broken).toMatchObject({ seq })
  })
  test('are intact once the tampering is rolled back', async () => {
    expect(await verifyAudit(tampered.app, { full: true })).toEqual({ rows: 6, read: 6, unchained: 0 })
  })
  test.each([
    "update audit_log set action = 'x'",
    'update audit_log set chain_seq = null',
    'update audit_log set chain_hash = sha256(chain_hash)',
    'delete /* any team: a test */ from audit_log',
    'truncate audit_log',
  ])('is append-only in the database: %s', async (statement) => {
    await expect(query(tampered.url, statement)).rejects.toThrow('audit_log is append-only')
  })
  test.each([
    "update audit_outbox set action = 'x'",
    'update audit_outbox set mac = sha256(mac)',
    'delete /* any team: a test */ from audit_outbox',
    'truncate audit_outbox',
  ])('keep a row in the outbox until they have it: %s', async (statement) => {
    await tampered.api.listUsers()
    await expect(query(tampered.url, statement)).rejects.toThrow('audit_outbox keeps rows until audit_log has them')
  })
  test('let only the same row leave the outbox', async () => {
    const insert = (mac: string) =>
      query(
        tampered.url,
        `insert into audit_outbox (chain_id, id, at, actor_kind, action, status, mac)
         select chain_id, id, at, actor_kind, action, status, ${mac} from audit_log where ${chain} and chain_seq = 1`,
      )
    const remove = async () => query(tampered.url, `delete from audit_outbox where ${chain} and id = '${await idAt(1)}'`)
    await insert('mac')
    await remove()
    await insert('sha256(mac)')
    await expect(remove()).rejects.toThrow('audit_outbox keeps rows until audit_log has them')
  })
})
