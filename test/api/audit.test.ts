import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { auditBatch, auditRow, verifyAudit } from '../../src/tenants/audit/actions.ts'
import { ensureTeamKey } from '../../src/tenants/keys/actions.ts'
import { query } from '../support/cluster.ts'
import { someInfo, someInsurance } from '../support/people.ts'
import { sendRaw } from '../support/raw.ts'
import { newApiKey, newUuid } from '../support/seeded.ts'
import { newDatabase, type Replica, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const rowsOf = (request_id: string) =>
  w.app.db
    .selectFrom('audit_log')
    .select(['id', 'action', 'subject', 'status', 'team_id', 'org_id', 'actor_kind', 'actor_id'])
    .where('request_id', '=', request_id)
    .execute()

type Sent = { params?: object; query?: object; body?: unknown; headers?: Record<string, string>; key?: string }

/** One request, its status and the rows it left. */
async function logged(row: Row, { key = w.team_api_key, headers, ...sent }: Sent = {}) {
  const request_id = newUuid()
  const name = row.auth === 'management' ? 'x-management-key' : 'x-service-api-key'
  const { status, body } = await sendRequest(w.base, row, { ...sent, headers: { [name]: key, 'x-request-id': request_id, ...headers } })
  return { status, body: body as Record<string, string>, rows: await rowsOf(request_id) }
}

const aUser = () => ({ client_user_id: `user-${newUuid()}` })

describe('one request leaves one row', () => {
  test('whether it reads, searches, changes or is refused', async () => {
    const user = await w.api.createUser({ body: aUser() })
    const other = await w.api.createUser({ body: aUser() })
    const params = { user_id: user.user_id }
    const subject = `user_id:${user.user_id}`
    const unknown = newUuid()
    const [{ id: actor_id } = { id: '' }] = await query<{ id: string }>(w.url, 'select id from team_api_keys where team_id = $1', [
      w.team_id,
    ])

    const requests: [Row, Sent, { action: string; subject: string | null; status: number }][] = [
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
    for (const [row, sent, deed] of requests) {
      const { status, rows } = await logged(row, sent)
      expect({ ...deed, answered: status, rows }).toEqual({
        ...deed,
        answered: deed.status,
        rows: [{ id: expect.any(String), ...deed, team_id: w.team_id, org_id: w.org_id, actor_kind: 'team_key', actor_id }],
      })
    }
  })
  test('a created user is named by the id it was given', async () => {
    const { body, rows } = await logged(endpoints.createUser, { body: aUser() })
    expect(rows).toMatchObject([{ action: 'createUser', subject: `user_id:${body['user_id']}`, status: 200 }])
  })
  test('the subject is whom the contract knows, not whom a field beyond it names', async () => {
    const [user, other] = [await w.api.createUser({ body: aUser() }), await w.api.createUser({ body: aUser() })]
    const resolved = await logged(endpoints.resolveUser, { params: user, query: { user_id: newUuid() } })
    expect(resolved.rows).toMatchObject([{ subject: `user_id:${user.user_id}` }])
    const created = await logged(endpoints.createUser, { body: { ...aUser(), user_id: other.user_id } })
    expect(created.rows).toMatchObject([{ subject: `user_id:${created.body['user_id']}` }])
    expect(created.body['user_id']).not.toBe(other.user_id)
  })
  test('what an access token does is on the management key that minted it', async () => {
    const [minter] = (await w.admin.listManagementKeys({ params: w })).data
    const { access_token } = await w.admin.createAccessToken({ params: w, body: { env: 'sandbox' } })
    const { rows } = await logged(endpoints.listUsers, { key: '', headers: { authorization: `Bearer ${access_token}` } })
    expect(rows).toMatchObject([{ actor_kind: 'access_token', actor_id: minter?.id, team_id: w.team_id, status: 200 }])
  })
  test('keys and teams are named by the id they were given, and revoked keys by theirs', async () => {
    const { management_key: key, org_id, team_id } = await w.tenant()
    const params = { org_id, env: 'sandbox', region: 'us' }
    const made = [
      await logged(endpoints.createTeamKey, { key, params, body: { label: 'one', team_id } }),
      await logged(endpoints.createTeamKey, { key, params, body: { label: 'two', team_id } }),
      await logged(endpoints.createManagementKey, { key, params, body: { label: 'deputy', role: 'org_admin' } }),
      await logged(endpoints.createTeam, { key, params, body: { name: 'Second', region: 'us' } }),
    ]
    for (const { body, rows } of made) expect(rows).toMatchObject([{ subject: `id:${body['id']}`, status: 200 }])
    const api_key_id = made.slice(0, 2).map(({ body }) => body['id'])
    const { rows } = await logged(endpoints.deleteTeamKeys, { key, params, query: { api_key_id } })
    expect(rows).toMatchObject([{ subject: api_key_id.map((id) => `api_key_id:${id}`).join(' '), status: 200 }])
  })
  test('a list names whom it shows: fifty users, then how many', async () => {
    const { api, team_api_key: key } = await w.tenant()
    const body = () => ({ client_user_id: `ward-${newUuid()}` })
    const users = await Promise.all(Array.from({ length: 51 }, () => api.createUser({ body: body() })))
    const subjects = async (row: Row, query: object) => (await logged(row, { key, query })).rows[0]?.subject?.split(' ')
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
    ['is of another type', 415, 'text/plain', 'hello'],
    ['is too large', 413, 'application/json', JSON.stringify({ client_user_id: 'x'.repeat(1_100_000) })],
  ])('also when the body %s', async (_, status, type, body) => {
    const request_id = newUuid()
    const headers = { 'x-service-api-key': w.team_api_key, 'x-request-id': request_id, 'content-type': type }
    expect((await sendRaw(`${w.base}/v2/user`, 'POST', { headers, body })).status).toBe(status)
    expect(await rowsOf(request_id)).toMatchObject([{ action: 'createUser', status, team_id: w.team_id, subject: null }])
  })
  test('a replay leaves its own, and names the user too', async () => {
    const sent = { body: aUser(), headers: { 'x-idempotency-key': newUuid() } }
    const first = await logged(endpoints.createUser, sent)
    const second = await logged(endpoints.createUser, sent)
    expect(second.body).toEqual(first.body)
    for (const { rows } of [first, second])
      expect(rows).toMatchObject([{ action: 'createUser', subject: `user_id:${first.body['user_id']}`, status: 200 }])
    const other = await logged(endpoints.createUser, { ...sent, body: aUser() })
    expect(other.rows).toMatchObject([{ status: 409 }])
  })
  test('also when a good key may not do it', async () => {
    const team_api_key = newApiKey('sk_us_')
    await ensureTeamKey(w.app, team_api_key, { label: 'reader', team_id: w.team_id, read_only: true })
    const refused = await logged(endpoints.createUser, { key: team_api_key, body: aUser() })
    expect(refused).toMatchObject({ status: 403, rows: [{ action: 'createUser', status: 403, team_id: w.team_id }] })
    const launch = await w.tenant({ plan: 'launch' })
    const gated = await logged(endpoints.listTeams, { key: launch.management_key, params: { org_id: launch.org_id } })
    expect(gated).toMatchObject({
      status: 403,
      rows: [{ action: 'listTeams', status: 403, actor_kind: 'management_key', org_id: launch.org_id }],
    })
  })
  test('but none what is the same whoever asks and about nobody, unless it is refused', async () => {
    const rows = Object.entries(endpoints as Record<string, Row>).filter(([, row]) => row.unaudited)
    expect(rows.map(([name]) => name).sort()).toEqual([
      'getClock',
      'getMarker',
      'getSession',
      'listLabs',
      'listMarkers',
      'listSources',
      'searchDiagnoses',
    ])
    for (const [, row] of rows) expect(row.method === 'get' && !/user_id|order_id|team_id|org_id/.test(row.path)).toBe(true)
    for (const [row, sent] of [
      [endpoints.getClock, {}],
      [endpoints.listSources, {}],
      [endpoints.listLabs, {}],
      [endpoints.listMarkers, {}],
      [
        endpoints.getMarker,
        { params: { lab_id: 1, provider_id: (await w.api.listMarkers({ query: { lab_id: [1] } })).markers[0]?.provider_id } },
      ],
      [endpoints.searchDiagnoses, { query: { diagnosis_query: 'E11' } }],
    ] as [Row, Sent][])
      expect(await logged(row, sent)).toMatchObject({ status: 200, rows: [] })
    const refused = await logged(endpoints.searchDiagnoses, { query: { diagnosis_query: 'E' } })
    expect(refused).toMatchObject({ status: 422, rows: [{ action: 'searchDiagnoses', status: 422, team_id: w.team_id }] })
  })
  test('but none when nobody was authenticated', async () => {
    const { status, rows } = await logged(endpoints.getUser, { key: `sk_us_${'x'.repeat(30)}`, params: { user_id: newUuid() } })
    expect([status, rows]).toEqual([401, []])
  })
  test('and none of it holds a value that a patient gave', async () => {
    const { rows } = await logged(endpoints.resolveUser, { params: { client_user_id: 'ward-seven' } })
    expect(rows).toMatchObject([{ status: 404, subject: null }])
  })
  test('however many come at once: every row is there when its answer is', async () => {
    const user = await w.api.createUser({ body: aUser() })
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        i % 4 ? logged(endpoints.getUser, { params: { user_id: user.user_id } }) : logged(endpoints.createUser, { body: aUser() }),
      ),
    )
    expect(all.filter(({ status, rows }) => status !== 200 || rows.length !== 1)).toEqual([])
  })
})

test('seven thousand rows of one moment are all written', async () => {
  const { app } = await replica({ database: await newDatabase() })
  const audit = auditBatch(app)
  await Promise.all(Array.from({ length: 7000 }, () => audit(auditRow(app, { kind: 'operator' }, { action: 'test', status: 200 }))))
  expect((await verifyAudit(app)).unchained).toBe(7000)
})

describe('a change and its row', () => {
  test('are both there or neither is', async () => {
    const own = await replica({ database: await newDatabase() })
    const { api, team_api_key } = await own.tenant()
    const user = await api.createUser({ body: aUser() })
    await query(
      own.url,
      `create function no_log() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create trigger no_log before insert on audit_log for each row execute function no_log()`,
    )
    const headers = { 'x-service-api-key': team_api_key }
    const answers = [
      await sendRequest(own.base, endpoints.createUser, { body: aUser(), headers }),
      await sendRequest(own.base, endpoints.deleteUser, { params: user, headers }),
      await sendRequest(own.base, endpoints.getUser, { params: user, headers }),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([500, 500, 500])
    await query(own.url, 'drop trigger no_log on audit_log')
    expect(await api.listUsers()).toMatchObject({ total: 1, users: [{ user_id: user.user_id }] })
  })
})

describe('the chain', () => {
  let own: Replica & { api: Tenant['api'] }
  beforeAll(async () => {
    const one = await replica({ database: await newDatabase() })
    own = { ...one, api: (await one.tenant()).api }
    for (let i = 0; i < 5; i++) await own.api.createUser({ body: aUser() })
    await own.runJobs()
  })

  /** What the verification says after somebody with every right wrote into the tables; all of it is rolled back. */
  async function verdictAfter(...statements: string[]) {
    const db = await own.app.db.startTransaction().execute()
    try {
      await sql`alter table audit_log disable trigger audit_log_append_only`.execute(db)
      for (const statement of statements) await sql.raw(statement).execute(db)
      return await verifyAudit({ ...own.app, db, transaction: { pendingWebhooks: new Set() } })
    } finally {
      await db.rollback().execute()
    }
  }
  const idAt = async (seq: number) =>
    (await own.app.db.selectFrom('audit_log').select('id').where('chain_seq', '=', seq).executeTakeFirst())?.id

  test('is made by the job, row by row in the order of time, and is intact', async () => {
    const growing = await replica({ database: await newDatabase() })
    const { api } = await growing.tenant()
    expect(await verifyAudit(growing.app)).toEqual({ rows: 0, unchained: 0 })
    for (let i = 0; i < 3; i++) await api.createUser({ body: aUser() })
    expect(await verifyAudit(growing.app)).toEqual({ rows: 0, unchained: 3 })
    await growing.runJobs()
    await api.listUsers()
    expect(await verifyAudit(growing.app)).toEqual({ rows: 3, unchained: 1 })
    await growing.runJobs()
    expect(await verifyAudit(growing.app)).toEqual({ rows: 4, unchained: 0 })
    const chain = await growing.app.db.selectFrom('audit_log').select(['chain_seq', 'chain_hash']).orderBy('at').orderBy('id').execute()
    expect(chain.map((row) => [row.chain_seq, row.chain_hash?.length])).toEqual([1, 2, 3, 4].map((seq) => [seq, 32]))
  })
  test('may be longer than one batch, and two replicas may make it at once', async () => {
    const one = await replica({ database: await newDatabase() })
    const other = await replica({ database: one.url })
    await query(
      one.url,
      `insert into audit_log (id, at, actor_kind, action, status)
       select gen_random_uuid(), now() - n * interval '1 second', 'operator', 'test', 200 from generate_series(1, 2500) n`,
    )
    await Promise.all([one.runJobs(), other.runJobs()])
    await one.runJobs()
    expect(await verifyAudit(other.app)).toEqual({ rows: 2500, unchained: 0 })
  })
  test.each([
    "action = 'getUser'",
    'status = 404',
    "subject = 'user_id:nobody'",
    'actor_id = gen_random_uuid()',
    "at = at + interval '1 millisecond'",
    'chain_hash = sha256(chain_hash)',
  ])('names the row in which somebody set %s', async (change) => {
    expect(await verdictAfter(`update audit_log set ${change} where chain_seq = 3`)).toEqual({
      rows: 2,
      unchained: 0,
      broken: { seq: 3, id: await idAt(3), reason: 'the row was changed' },
    })
  })
  test('names the row that was taken out of the middle', async () => {
    const { broken } = await verdictAfter('delete from audit_log where chain_seq = 2')
    expect(broken).toEqual({ seq: 2, reason: `the row is missing; the next one is ${await idAt(3)}` })
  })
  test('names the first row that was cut off its end', async () => {
    const { broken } = await verdictAfter('delete from audit_log where chain_seq > 3')
    expect(broken).toEqual({ seq: 4, reason: 'the row is missing' })
  })
  test('names a row that was slipped in between', async () => {
    const { broken } = await verdictAfter(
      'update audit_log set chain_seq = chain_seq + 100 where chain_seq > 2',
      `insert into audit_log (id, at, actor_kind, action, status, chain_seq, chain_hash)
         values (gen_random_uuid(), now(), 'operator', 'getUser', 200, 3, sha256('x'))`,
      'update audit_log set chain_seq = chain_seq - 99 where chain_seq > 100',
    )
    expect(broken).toMatchObject({ seq: 3, reason: 'the row was changed' })
  })
  test.each([
    ['wound back', ['update audit_head set seq = 3, mac = (select chain_hash from audit_log where chain_seq = 3)'], 3],
    ['cut off with its rows', ['delete from audit_log where chain_seq > 3', 'update audit_head set seq = 3'], 3],
    ['replaced', ['update audit_head set mac = sha256(mac)'], 5],
    ['removed', ['delete from audit_head'], 1],
    ['removed with all rows', ['delete from audit_log', 'delete from audit_head'], 1],
  ])('names the row at which its end was %s', async (_, statements, seq) => {
    expect((await verdictAfter(...statements)).broken).toMatchObject({ seq })
  })
  test('is intact after all of that', async () => {
    expect(await verifyAudit(own.app)).toEqual({ rows: 5, unchained: 0 })
  })
  test.each([
    "update audit_log set action = 'x'",
    'update audit_log set chain_seq = null',
    'update audit_log set chain_hash = sha256(chain_hash)',
    'delete from audit_log',
    'truncate audit_log',
  ])('is guarded by the database: %s', async (statement) => {
    await expect(query(own.url, statement)).rejects.toThrow('audit_log is append-only')
  })
  test('cannot be made with another field changed on the way', async () => {
    await own.api.listUsers()
    const change = "update audit_log set action = 'x', chain_seq = 100, chain_hash = sha256('x') where chain_seq is null"
    await expect(query(own.url, change)).rejects.toThrow('audit_log is append-only')
  })
})
