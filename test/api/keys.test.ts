import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient, sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { DAY, HOUR, later, MINUTE, SECOND } from '../../src/platform/time.ts'
import { wakeUpsAmongProcesses } from '../../src/platform/wake-ups/wake-ups.ts'
import { deleteTeamKeys, ensureTeamKey } from '../../src/tenants/keys/actions.ts'
import { MAX_MANAGEMENT_KEYS } from '../../src/tenants/keys/rules.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { auditRows } from '../support/audit.ts'
import { aNewOrder } from '../support/orders.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newApiKey, newUuid } from '../support/seeded.ts'
import { aSample, aWorkout, push, pushSummary } from '../support/wearables.ts'
import { errorOf, replica, type Tenant, temporaryFolder, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

type WakeUps = ReturnType<typeof wakeUpsAmongProcesses>

const newTenant = (): Promise<Tenant> => w.tenant()
const deploymentParams = ({ org_id }: { org_id: string }) => ({ org_id, env: 'sandbox' as const, region: 'us' as const })
const clientWithKey = (key: string) => createClient(w.base, { 'x-service-api-key': key })
const adminClient = (key: string) => createClient(w.base, { 'x-management-key': key })
const userBody = () => ({ client_user_id: `user-${newUuid()}` })
const createKey = (tenant: Tenant, change: object = {}) =>
  tenant.admin.createTeamKey({ params: deploymentParams(tenant), body: { label: 'reports', team_id: tenant.team_id, ...change } })

describe('a team API key', () => {
  test('is returned in full once and listed by its prefix afterward', async () => {
    const tenant = await newTenant()
    const key = await createKey(tenant)
    expect(key).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      label: 'reports',
      value: expect.stringMatching(/^sk_us_[0-9A-Za-z]{46}$/),
      team_id: tenant.team_id,
      created_at: expect.stringMatching(/Z$/),
      read_only: false,
      expires_at: null,
      last_used_at: null,
      rate_limit: null,
    })
    await clientWithKey(key.value).createUser({ body: userBody() })
    const { api_keys } = await tenant.admin.listTeamKeys({ params: deploymentParams(tenant) })
    expect(api_keys.map(({ label }) => label)).toEqual(['test', 'reports'])
    expect(api_keys[1]).toEqual({ ...key, value: `${key.value.slice(0, 12)}…` })
    expect(JSON.stringify(api_keys)).not.toContain(key.value)
  })

  test('is stored as a hash', async () => {
    const key = await createKey(w)
    const [row] = await query<{ hash: Buffer; prefix: string; text: string }>(
      w.url,
      `select h.hash, k.prefix, k::text || h::text as text from team_api_keys as k
       join team_api_key_hashes as h on h.team_id = k.team_id and h.key_id = k.id where k.id = $1`,
      [key.id],
    )
    expect(row?.hash).toEqual(createHash('sha256').update(key.value).digest())
    expect(row?.prefix).toBe(key.value.slice(0, 12))
    expect(row?.text).not.toContain(key.value.slice(12))
  })

  test('works at once on every replica, and stops after a second on those that no wake-up reaches', async () => {
    const other = await replica({ database: w.url })
    other.stopTime()
    const { id, value } = await createKey(w)
    const [here, there] = [clientWithKey(value), createClient(other.base, { 'x-service-api-key': value })]
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? here : there).listUsers()))
    await w.admin.deleteTeamKeys({ params: deploymentParams(w), query: { api_key_id: [id] } })
    expect(await errorOf(here.listUsers())).toMatchObject({ status: 401 })
    other.advanceTime(SECOND - 1)
    await there.listUsers()
    other.advanceTime(1)
    expect(await errorOf(there.listUsers())).toMatchObject({ status: 401 })
  })

  test('stops at once in the other processes of a machine, which a wake-up reaches', async () => {
    const other = await replica({ database: w.url })
    other.stopTime()
    const folder = temporaryFolder()
    const [here, there] = [w.app, other.app].map(({ receivers, db }) =>
      wakeUpsAmongProcesses({ receivers, db, folder, connect: undefined, onError: () => {} }),
    ) as [WakeUps, WakeUps]
    await there.listen()
    const { id, value } = await createKey(w)
    const client = createClient(other.base, { 'x-service-api-key': value })
    await client.listUsers()
    const operator = { kind: 'management' as const, org_id: w.org_id, key_id: null, plan: 'scale', team_ids: undefined }
    await deleteTeamKeys({ ...w.app, wake: (type, id) => here.send({ type, id }) }, operator, [id])
    const refusal = await eventually(() => errorOf(client.listUsers()).then((error) => (error.status === 401 ? error : undefined)))
    expect(refusal).toMatchObject({ detail: { error_type: 'INVALID_API_KEY' } })
    await Promise.all([here.stop(), there.stop()])
  })

  test('is read from the database by requests that grant access, even if it was valid a moment ago', async () => {
    const other = await replica({ database: w.url })
    other.stopTime()
    const { user_id } = await w.api.createUser({ body: userBody() })
    const { id, value } = await createKey(w)
    const there = createClient(other.base, { 'x-service-api-key': value })
    await there.getUser({ params: { user_id } })
    await w.admin.deleteTeamKeys({ params: deploymentParams(w), query: { api_key_id: [id] } })
    await there.getUser({ params: { user_id } })
    const refused = { status: 401, detail: { error_type: 'INVALID_API_KEY' } }
    expect(await errorOf(there.createUserToken({ params: { user_id } }))).toMatchObject(refused)
    expect(await errorOf(there.createLinkToken({ body: { user_id } }))).toMatchObject(refused)
    const browser = createClient(other.base, { 'x-assay-console': '1' })
    expect((await errorOf(browser.beginSession({ body: { team_api_key: value } }))).status).toBe(401)
  })

  test('works at once when it is created after a request with it was rejected, and ends when it expires', async () => {
    const other = await replica({ database: w.url })
    other.stopTime()
    const value = newApiKey('sk_us_')
    const there = createClient(other.base, { 'x-service-api-key': value })
    expect(await errorOf(there.listUsers())).toMatchObject({ status: 401 })
    await ensureTeamKey(w.app, value, { label: 'imported', team_id: w.team_id })
    await there.listUsers()

    const expiring = await createKey(w, { expires_at: later(other.app.wall(), MINUTE) })
    const client = createClient(other.base, { 'x-service-api-key': expiring.value })
    other.advanceTime(MINUTE - SECOND / 2)
    await client.listUsers()
    other.advanceTime(SECOND / 2)
    expect(await errorOf(client.listUsers())).toMatchObject({ status: 401, detail: { error_type: 'API_KEY_EXPIRED' } })
  })

  test('is checked before a read is audited or answered, even if it was valid a moment ago', async () => {
    const tenant = await newTenant()
    const { id, value } = await createKey(tenant)
    const client = clientWithKey(value)
    const { user_id } = await client.createUser({ body: userBody() })
    const read = () => client.getUser({ params: { user_id } })
    const readsOfKey = () => query(w.url, `select from ${auditRows} where actor_id = $1 and action = 'getUser'`, [id])
    for (let i = 0; i < 3; i++) await read()
    expect(await readsOfKey()).toHaveLength(3)
    // The caller has changed, and the read is the same.
    await setBetas(w.app, tenant.team_id, ['unmatched_results'])
    expect(await read()).toMatchObject({ user_id })
    expect(await errorOf(client.getUser({ params: { user_id: newUuid() } }))).toMatchObject({ status: 404 })

    await tenant.admin.deleteTeamKeys({ params: deploymentParams(tenant), query: { api_key_id: [id] } })
    const refused = { status: 401, detail: { error_type: 'INVALID_API_KEY' } }
    expect(await errorOf(read())).toMatchObject(refused)
    expect(await errorOf(read())).toMatchObject(refused)
    expect(await readsOfKey()).toHaveLength(5)
  })

  test.each(['createUser', 'createOrder', 'pushSamples', 'pushSummaries'])(
    'is checked before %s writes anything, even if it was valid a moment ago',
    async (name) => {
      const tenant = await newTenant()
      const { id, value } = await createKey(tenant)
      const client = clientWithKey(value)
      const order = await aNewOrder(client)
      const { user_id } = order
      const writes: Record<string, () => Promise<unknown>> = {
        createUser: () => client.createUser({ body: userBody() }),
        createOrder: () => client.createOrder({ body: order }),
        pushSamples: () => push(client, user_id, 'heartrate', [aSample('2026-03-01T08:00:00Z', 61)]),
        pushSummaries: () => pushSummary(client, user_id, 'workouts', aWorkout()),
      }
      const write = writes[name] as () => Promise<unknown>
      const written = () =>
        query(
          w.url,
          `select (select count(*) from users where team_id = $1) as users, (select count(*) from orders where team_id = $1) as orders,
         (select count(*) from events where team_id = $1) as events, (select count(*) from connections where team_id = $1) as connections,
         (select count(*) from ${auditRows} where team_id = $1 and actor_id = $2) as audited`,
          [tenant.team_id, id],
        )
      const before = await written()
      await tenant.admin.deleteTeamKeys({ params: deploymentParams(tenant), query: { api_key_id: [id] } })
      expect(await errorOf(write())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_API_KEY' } })
      expect(await written()).toEqual(before)
    },
  )

  test('loses access to a beta at once when its team leaves the beta, also for an invalid request', async () => {
    const tenant = await newTenant()
    const { value } = await createKey(tenant)
    await setBetas(w.app, tenant.team_id, ['unmatched_results'])
    const client = clientWithKey(value)
    await client.listUnmatchedResults({ query: {} })
    await setBetas(w.app, tenant.team_id, [])
    const refused = { status: 400, detail: { error_type: 'BETA_NOT_ENABLED' } }
    expect(await errorOf(client.listUnmatchedResults({ query: {} }))).toMatchObject(refused)
    expect(await errorOf(client.listUnmatchedResults({ query: { limit: -1 } }))).toMatchObject(refused)
  })

  test('is listed with last_used_at after the job runs', async () => {
    const tenant = await newTenant()
    const { id, value } = await createKey(tenant)
    const lastUse = async () =>
      (await tenant.admin.listTeamKeys({ params: deploymentParams(tenant) })).api_keys.find((key) => key.id === id)?.last_used_at ?? null
    await w.runJobs()
    expect(await lastUse()).toBeNull()
    const before = w.app.wall()
    await clientWithKey(value).listUsers()
    await w.runJobs()
    const first = await lastUse()
    expect(first && first >= before).toBe(true)
    w.advanceTime(2 * MINUTE)
    await clientWithKey(value).listUsers()
    await w.runJobs()
    const second = (await lastUse()) as string
    expect(Date.parse(second) - Date.parse(first as string)).toBeGreaterThanOrEqual(2 * MINUTE)
  })

  test('stops working when revoked, without affecting other keys', async () => {
    const tenant = await newTenant()
    const key = await createKey(tenant)
    const foreignKey = await createKey(await newTenant())
    const unknownId = newUuid()
    const ids = [key.id, unknownId, foreignKey.id]
    const revoke = () => tenant.admin.deleteTeamKeys({ params: deploymentParams(tenant), query: { api_key_id: ids } })
    expect(await revoke()).toEqual({ success: [key.id], failure: [], not_found: [unknownId, foreignKey.id] })
    expect(await errorOf(clientWithKey(key.value).listUsers())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_API_KEY' } })
    expect(await clientWithKey(foreignKey.value).listUsers()).toMatchObject({ total: 0 })
    expect(await tenant.api.listUsers()).toMatchObject({ total: 0 })
    expect((await tenant.admin.listTeamKeys({ params: deploymentParams(tenant) })).api_keys.map(({ label }) => label)).toEqual(['test'])
    expect(await revoke()).toMatchObject({ success: [], not_found: ids })
  })

  test('of a deleted team is reported as not_found when revoked', async () => {
    const tenant = await newTenant()
    const { id } = await createKey(tenant)
    await tenant.admin.deleteTeam({ params: tenant })
    expect(await tenant.admin.deleteTeamKeys({ params: deploymentParams(tenant), query: { api_key_id: [id] } })).toMatchObject({
      not_found: [id],
    })
  })

  test('with read_only can read and search but not write', async () => {
    const tenant = await newTenant()
    const reader = clientWithKey((await createKey(tenant, { read_only: true })).value)
    const user = await tenant.api.createUser({ body: userBody() })
    expect(await reader.getUser({ params: user })).toEqual(user)
    expect(await reader.listUsers()).toMatchObject({ total: 1 })
    expect(await reader.findPeople({ body: { query: 'nobody' } })).toBeTruthy()
    const changes = [
      () => reader.createUser({ body: userBody() }),
      () => reader.patchUser({ params: user, body: { fallback_time_zone: 'UTC' } }),
      () => reader.deleteUser({ params: user }),
      () => reader.moveClock({ body: { advance_seconds: 1 } }),
    ]
    for (const change of changes)
      expect(await errorOf(change())).toMatchObject({
        status: 403,
        detail: { error_type: 'READ_ONLY_KEY', error_message: expect.any(String) },
      })
    expect(await tenant.api.getUser({ params: user })).toEqual(user)
  })

  test('works until it expires', async () => {
    const tenant = await newTenant()
    const expires_at = new Date(Date.parse(w.app.wall()) + HOUR).toISOString()
    const key = await createKey(tenant, { expires_at: expires_at.replace('Z', '+00:00') })
    expect(key.expires_at).toBe(expires_at)
    const api = clientWithKey(key.value)
    w.advanceTime(HOUR - MINUTE)
    await api.listUsers()
    w.advanceTime(MINUTE)
    expect(await errorOf(api.listUsers())).toMatchObject({ status: 401, detail: { error_type: 'API_KEY_EXPIRED' } })
    await tenant.api.listUsers()
  })

  test('cannot be created with an expires_at in the past', async () => {
    expect(await errorOf(createKey(w, { expires_at: w.app.wall() }))).toMatchObject({
      status: 400,
      detail: { error_type: 'EXPIRY_IN_THE_PAST' },
    })
  })

  test.each([
    [{ label: '' }, 'label'],
    [{ label: 'x'.repeat(101) }, 'label'],
    [{ team_id: 'mine' }, 'team_id'],
    [{ read_only: 'yes' }, 'read_only'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: '2030-01-01' }, 'expires_at'],
  ])('is rejected with %j', async (change, field) => {
    expect(await errorOf(createKey(w, change))).toMatchObject({ status: 422, detail: [{ loc: ['body', field] }] })
  })

  test('returns 404 for a team outside the organization', async () => {
    const other = await newTenant()
    for (const team_id of [other.team_id, newUuid()])
      expect(await errorOf(createKey(w, { team_id }))).toMatchObject({ status: 404, detail: { error_type: 'TEAM_NOT_FOUND' } })
  })

  test('is listed by team and in pages', async () => {
    const { admin, ...tenant } = await newTenant()
    const secondTeam = await admin.createTeam({ params: tenant, body: { name: 'Two', region: 'us' } })
    for (let i = 0; i < 51; i++)
      await admin.createTeamKey({ params: deploymentParams(tenant), body: { label: `key ${i}`, team_id: secondTeam.id } })
    const list = (query: object = {}) => admin.listTeamKeys({ params: deploymentParams(tenant), query })
    const first = await list({ team_id: secondTeam.id })
    const rest = await list({ team_id: secondTeam.id, next_cursor: first.next_cursor })
    expect([...first.api_keys, ...rest.api_keys].map(({ label }) => label)).toEqual(Array.from({ length: 51 }, (_, i) => `key ${i}`))
    expect([first.api_keys.length, rest.next_cursor]).toEqual([50, null])
    expect((await list({ team_id: tenant.team_id })).api_keys.map(({ label }) => label)).toEqual(['test'])
    expect((await list({ team_id: newUuid() })).api_keys).toEqual([])
  })
})

describe('a management key', () => {
  const createManagementKey = (tenant: Tenant, change: object = {}) =>
    tenant.admin.createManagementKey({ params: tenant, body: { label: 'backup', role: 'org_admin', ...change } })
  const createBoundKey = (tenant: Tenant, ...team_ids: string[]) =>
    createManagementKey(tenant, { role: 'team_admin', team_role_bindings: team_ids.map((team_id) => ({ team_id })) })
  const list = (tenant: Tenant, query: object = {}) => tenant.admin.listManagementKeys({ params: tenant, query })

  test('is returned in full once and listed by its prefix afterward', async () => {
    const tenant = await newTenant()
    const { key, ...created } = await createManagementKey(tenant)
    expect(key).toMatch(/^mg_[0-9A-Za-z]{46}$/)
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      label: 'backup',
      created_at: expect.stringMatching(/Z$/),
      creator: { type: 'management_key' },
      role: 'org_admin',
      team_role_bindings: null,
      prefix: key.slice(0, 12),
      last_used_at: null,
    })
    await adminClient(key).getOrg({ params: tenant })
    const { data } = await list(tenant)
    expect(data).toEqual([expect.objectContaining({ label: 'test', creator: { type: 'operator' } }), created])
  })

  test('is stored as a hash and listed with last_used_at', async () => {
    const tenant = await newTenant()
    const { key, id } = await createManagementKey(tenant)
    const [row] = await query<{ hash: Buffer; text: string }>(
      w.url,
      'select hash, k::text as text from management_keys as k where id = $1',
      [id],
    )
    expect(row?.hash).toEqual(createHash('sha256').update(key).digest())
    expect(row?.text).not.toContain(key.slice(12))
    const before = w.app.wall()
    await adminClient(key).getOrg({ params: tenant })
    await w.runJobs()
    const used = (await list(tenant)).data.find((listed) => listed.id === id)?.last_used_at
    expect(used && used >= before).toBe(true)
  })

  test('with the team_admin role lists each of its teams once', async () => {
    const tenant = await newTenant()
    const { team_id } = tenant
    const { key: _, ...created } = await createBoundKey(tenant, team_id, team_id.toUpperCase())
    expect(created.team_role_bindings).toEqual([{ team_id }])
    expect((await list(tenant, { role: 'team_admin' })).data).toEqual([created])
  })

  test('is listed by role, by team and in pages', async () => {
    const tenant = await newTenant()
    const secondTeam = await tenant.admin.createTeam({ params: tenant, body: { name: 'Two', region: 'us' } })
    const first = await createBoundKey(tenant, tenant.team_id)
    const both = await createBoundKey(tenant, tenant.team_id, secondTeam.id)
    const ids = async (query: object) => (await list(tenant, query)).data.map(({ id }) => id)
    expect(await ids({ role: 'team_admin' })).toEqual([first.id, both.id])
    expect(await ids({ team_id: secondTeam.id })).toEqual([both.id])
    expect(await ids({ team_id: tenant.team_id, role: 'team_admin' })).toEqual([first.id, both.id])
    expect(await ids({ team_id: newUuid() })).toEqual([])
    expect((await errorOf(list(tenant, { role: 'owner' }))).status).toBe(422)
    for (let i = 0; i < 48; i++) await createManagementKey(tenant)
    const page = await list(tenant)
    const rest = await list(tenant, { next_cursor: page.next_cursor })
    expect([page.data.length, rest.data.length, rest.next_cursor]).toEqual([50, 1, null])
  })

  test('is refused over the limit of the organization, until one ends', async () => {
    const tenant = await newTenant()
    // The organization has one key already.
    await query(
      w.url,
      `insert into management_keys (id, org_id, hash, label, prefix, role, created_at)
       select gen_random_uuid(), $1, sha256(gen_random_uuid()::text::bytea), 'many', 'mg_many', 'org_admin', now() from generate_series(1, $2::int)`,
      [tenant.org_id, MAX_MANAGEMENT_KEYS - 2],
    )
    const { id } = await createManagementKey(tenant)
    expect(await errorOf(createManagementKey(tenant))).toMatchObject({ status: 400, detail: { error_type: 'TOO_MANY_MANAGEMENT_KEYS' } })
    await tenant.admin.deleteManagementKey({ params: { ...tenant, key_id: id } })
    await createManagementKey(tenant)
  })

  test.each([
    [{ role: 'team_admin' }, 400, 'TEAM_BINDINGS_REQUIRED'],
    [{ role: 'team_admin', team_role_bindings: null }, 400, 'TEAM_BINDINGS_REQUIRED'],
    [{ role: 'team_admin', team_role_bindings: [{ team_id: newUuid() }] }, 400, 'UNKNOWN_TEAM'],
    [{ role: 'org_admin', team_role_bindings: [{ team_id: newUuid() }] }, 400, 'TEAM_BINDINGS_NOT_ALLOWED'],
  ])('is rejected with %j', async (change, status, error_type) => {
    const tenant = await newTenant()
    expect(await errorOf(createManagementKey(tenant, change))).toMatchObject({ status, detail: { error_type } })
    expect((await list(tenant)).data).toHaveLength(1)
  })

  test.each([{ label: '' }, { role: 'owner' }, { role: 'team_admin', team_role_bindings: [] }, { team_role_bindings: [{ team_id: 'x' }] }])(
    'returns 422 for %j',
    async (change) => {
      expect((await errorOf(createManagementKey(w, change))).status).toBe(422)
    },
  )

  test('can change its label and teams with immediate effect', async () => {
    const tenant = await newTenant()
    const secondTeam = await tenant.admin.createTeam({ params: tenant, body: { name: 'Two', region: 'us' } })
    const { key, ...created } = await createBoundKey(tenant, tenant.team_id)
    const patch = (body: object) => tenant.admin.patchManagementKey({ params: { org_id: tenant.org_id, key_id: created.id }, body })
    const reachable = async () => (await adminClient(key).listTeams({ params: tenant })).teams.map((team) => team.id)
    expect(await patch({ label: 'night shift' })).toEqual({ ...created, label: 'night shift' })
    expect(await reachable()).toEqual([tenant.team_id])
    expect(await patch({ team_role_bindings: [{ team_id: secondTeam.id }] })).toMatchObject({
      label: 'night shift',
      team_role_bindings: [{ team_id: secondTeam.id }],
    })
    expect(await reachable()).toEqual([secondTeam.id])
    expect(await errorOf(patch({ label: 'lost', team_role_bindings: [{ team_id: w.team_id }] }))).toMatchObject({
      status: 400,
      detail: { error_type: 'UNKNOWN_TEAM' },
    })
    expect(await patch({ label: null, team_role_bindings: null })).toMatchObject({
      label: 'night shift',
      team_role_bindings: [{ team_id: secondTeam.id }],
    })
  })

  test('accepts concurrent changes to its teams', async () => {
    const tenant = await newTenant()
    const { id } = await createBoundKey(tenant, tenant.team_id)
    const secondTeam = await tenant.admin.createTeam({ params: tenant, body: { name: 'Two', region: 'us' } })
    const patch = () =>
      sendRequest(w.base, endpoints.patchManagementKey, {
        params: { org_id: tenant.org_id, key_id: id },
        body: { team_role_bindings: [{ team_id: secondTeam.id }] },
        headers: { 'x-management-key': tenant.management_key },
      })
    const responses = await Promise.all(Array.from({ length: 10 }, patch))
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200))
  })

  test('with the org_admin role cannot be bound to teams', async () => {
    const tenant = await newTenant()
    const { id } = await createManagementKey(tenant)
    const body = { team_role_bindings: [{ team_id: tenant.team_id }] }
    expect(await errorOf(tenant.admin.patchManagementKey({ params: { org_id: tenant.org_id, key_id: id }, body }))).toMatchObject({
      status: 400,
      detail: { error_type: 'TEAM_BINDINGS_NOT_ALLOWED' },
    })
  })

  test('stops working when revoked', async () => {
    const tenant = await newTenant()
    const { key, ...created } = await createManagementKey(tenant)
    const params = { org_id: tenant.org_id, key_id: created.id }
    expect(await tenant.admin.deleteManagementKey({ params })).toEqual(created)
    expect(await errorOf(adminClient(key).getOrg({ params: tenant }))).toMatchObject({
      status: 401,
      detail: { error_type: 'INVALID_MANAGEMENT_KEY' },
    })
    expect((await list(tenant)).data.map(({ label }) => label)).toEqual(['test'])
    expect(await errorOf(tenant.admin.deleteManagementKey({ params }))).toMatchObject({ status: 404 })
    expect(await errorOf(tenant.admin.patchManagementKey({ params, body: { label: 'back' } }))).toMatchObject({ status: 404 })
  })

  test('cannot be revoked when it is the last Org Management Key, even concurrently', async () => {
    const tenant = await newTenant()
    await createBoundKey(tenant, tenant.team_id)
    const [own] = (await list(tenant, { role: 'org_admin' })).data
    const revoke = (key_id: string, key: string) =>
      sendRequest(w.base, endpoints.deleteManagementKey, {
        params: { org_id: tenant.org_id, key_id },
        headers: { 'x-management-key': key },
      })
    const last = { status: 400, body: { detail: { error_type: 'LAST_ORG_KEY' } } }
    expect(await revoke(own?.id as string, tenant.management_key)).toMatchObject(last)
    const others = await Promise.all(Array.from({ length: 9 }, () => createManagementKey(tenant)))
    const mine = { id: own?.id as string, key: tenant.management_key }
    const responses = await Promise.all([mine, ...others].map(({ id, key }) => revoke(id, key)))
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 400])
    expect(responses.find(({ status }) => status === 400)).toMatchObject(last)
  })

  test('of another organization returns the same 404 as an unknown ID', async () => {
    const other = await newTenant()
    const { id } = await createManagementKey(other)
    const responses = []
    for (const key_id of [id, newUuid()])
      for (const row of [endpoints.deleteManagementKey, endpoints.patchManagementKey] as const) {
        const { status, body } = await sendRequest(w.base, row, {
          params: { org_id: w.org_id, key_id },
          headers: { 'x-management-key': w.management_key },
          ...(row.method === 'patch' ? { body: { label: 'mine' } } : {}),
        })
        responses.push([status, JSON.stringify(body)])
      }
    expect(new Set(responses.map(String)).size).toBe(1)
    expect(responses[0]).toEqual([404, expect.stringContaining('MANAGEMENT_KEY_NOT_FOUND')])
    expect((await list(other)).data).toHaveLength(2)
  })
})

describe('a team access token', () => {
  const bearer = (token: string) => createClient(w.base, { authorization: `Bearer ${token}` })
  const createToken = (tenant: Tenant, key = tenant.management_key) =>
    adminClient(key).createAccessToken({ params: tenant, body: { env: 'sandbox' } })

  test('grants access to the data of its team for ten minutes', async () => {
    const tenant = await newTenant()
    const user = await tenant.api.createUser({ body: userBody() })
    const token = await createToken(tenant)
    expect(token).toEqual({ access_token: expect.stringMatching(/^at_[0-9A-Za-z]{68}$/), expires_in: 600 })
    const api = bearer(token.access_token)
    expect(await api.getUser({ params: user })).toEqual(user)
    await api.deleteUser({ params: user })
    w.advanceTime(9 * MINUTE)
    await api.listUsers()
    w.advanceTime(MINUTE)
    expect(await errorOf(api.listUsers())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_ACCESS_TOKEN' } })
  })

  test("expires in real time, not on the team's clock", async () => {
    const tenant = await newTenant()
    const api = bearer((await createToken(tenant)).access_token)
    await tenant.api.moveClock({ body: { advance_seconds: DAY / 1000 } })
    await api.listUsers()
  })

  test('is stored as a hash and pruned after it expires', async () => {
    const tenant = await newTenant()
    const { access_token } = await createToken(tenant)
    const rows = () =>
      query<{ hash: Buffer; text: string }>(w.url, 'select hash, t::text as text from access_tokens as t where team_id = $1', [
        tenant.team_id,
      ])
    const [row] = await rows()
    expect(row?.hash).toEqual(createHash('sha256').update(access_token).digest())
    expect(row?.text).not.toContain(access_token.slice(3))
    w.advanceTime(11 * MINUTE)
    await w.runJobs()
    expect(await rows()).toEqual([])
  })

  test('is invalid after the key that created it is revoked', async () => {
    const tenant = await newTenant()
    const body = { label: 'token service', role: 'team_admin' as const, team_role_bindings: [{ team_id: tenant.team_id }] }
    const managementKey = await tenant.admin.createManagementKey({ params: tenant, body })
    const [mine, theirs] = [await createToken(tenant), await createToken(tenant, managementKey.key)]
    await tenant.admin.deleteManagementKey({ params: { org_id: tenant.org_id, key_id: managementKey.id } })
    expect(await errorOf(bearer(theirs.access_token).listUsers())).toMatchObject({ status: 401 })
    await bearer(mine.access_token).listUsers()
  })

  test('is invalid after the key that created it loses access to the team', async () => {
    const tenant = await newTenant()
    const other = await tenant.admin.createTeam({ params: tenant, body: { name: 'Other', region: 'us' } })
    const body = { label: 'token service', role: 'team_admin' as const, team_role_bindings: [{ team_id: tenant.team_id }] }
    const managementKey = await tenant.admin.createManagementKey({ params: tenant, body })
    const { access_token } = await createToken(tenant, managementKey.key)
    await bearer(access_token).listUsers()
    const params = { org_id: tenant.org_id, key_id: managementKey.id }
    await tenant.admin.patchManagementKey({ params, body: { team_role_bindings: [{ team_id: other.id }] } })
    expect(await errorOf(bearer(access_token).listUsers())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_ACCESS_TOKEN' } })
  })

  test('requires the environment of this deployment and a team of the organization', async () => {
    expect(await errorOf(w.admin.createAccessToken({ params: w, body: { env: 'production' } }))).toMatchObject({
      status: 400,
      detail: { error_type: 'WRONG_DEPLOYMENT', error_message: expect.stringContaining('This deployment is sandbox us') },
    })
    expect((await errorOf(w.admin.createAccessToken({ params: w, body: { env: 'staging' as 'sandbox' } }))).status).toBe(422)
    expect(await errorOf(w.admin.createAccessToken({ params: { ...w, team_id: newUuid() }, body: { env: 'sandbox' } }))).toMatchObject({
      status: 404,
    })
  })
})
