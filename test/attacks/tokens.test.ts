import { beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { aUser } from '../support/users.ts'
import { errorOf, type Replica, replica, type Tenant } from '../support/world.ts'

const shared = await replica({ env: fastPasswords })

let w: Replica & Tenant
beforeEach(async () => {
  w = { ...shared, ...(await shared.tenant()) }
})

type Api = Tenant['api']
type Tokens = Awaited<ReturnType<typeof createTokens>>

const deployment = () => ({ org_id: w.org_id, env: 'sandbox' as const, region: 'us' as const })
const clientWithKey = (key: string) => createClient(w.base, { 'x-service-api-key': key })
const createKey = (change: object = {}) =>
  w.admin.createTeamKey({ params: deployment(), body: { label: 'phones', team_id: w.team_id, ...change } })

/** A token for a phone and a link, both created with the same credential. */
async function createTokens(api: Api) {
  const user_id = await aUser(w.api)
  const { sign_in_token } = await api.createUserToken({ params: { user_id } })
  const { link_token } = await api.createLinkToken({ body: { user_id } })
  return { user_id, sign_in_token, link_token }
}

const connectPhone = ({ user_id, sign_in_token }: Tokens) =>
  createClient(w.base, { authorization: `Bearer ${sign_in_token}` }).connectPushSource({
    params: { provider: 'manual' },
    body: { user_id },
  })

/** Whether each token works, also the page of the link. */
async function workingTokens(tokens: Tokens) {
  const phone = await errorOf(connectPhone(tokens))
  const link = await errorOf(createClient(w.base, { 'x-vital-link-token': tokens.link_token }).listLinkSources())
  const page = await fetch(`${w.base}/link?token=${tokens.link_token}`)
  return [phone.status, link.status, page.status]
}

const WORKING = [200, 200, 200]

async function expectEnded(tokens: Tokens) {
  expect((await workingTokens(tokens)).slice(0, 2)).toEqual([401, 401])
  expect(await (await fetch(`${w.base}/link?token=${tokens.link_token}`)).text()).toContain('This link is not valid.')
}

describe('a thief who keeps a token', () => {
  test('loses it when the team API key that created it is revoked', async () => {
    const { id, value } = await createKey()
    const tokens = await createTokens(clientWithKey(value))
    expect(await workingTokens(tokens)).toEqual(WORKING)
    await w.admin.deleteTeamKeys({ params: deployment(), query: { api_key_id: [id] } })
    await expectEnded(tokens)
  })

  test('loses it when the team API key that created it expires', async () => {
    const { value } = await createKey({ expires_at: new Date(Date.parse(w.app.wall()) + 10 * MINUTE).toISOString() })
    const tokens = await createTokens(clientWithKey(value))
    expect(await workingTokens(tokens)).toEqual(WORKING)
    w.advanceTime(10 * MINUTE)
    await expectEnded(tokens)
  })

  test('loses it when the management key behind it is revoked or unbound from the team', async () => {
    const { org_id, team_id, admin } = w
    const { id: other } = await admin.createTeam({ params: { org_id }, body: { name: 'Pier', region: 'us' } })
    for (const end of ['revoke', 'unbind']) {
      const body = { label: end, role: 'team_admin' as const, team_role_bindings: [{ team_id }] }
      const { id: key_id, key } = await admin.createManagementKey({ params: { org_id }, body })
      const manager = createClient(w.base, { 'x-management-key': key })
      const { access_token } = await manager.createAccessToken({ params: { org_id, team_id }, body: { env: 'sandbox' } })
      const api = createClient(w.base, { authorization: `Bearer ${access_token}` })
      const tokens = await createTokens(api)
      expect(await workingTokens(tokens)).toEqual(WORKING)
      if (end === 'revoke') await admin.deleteManagementKey({ params: { org_id, key_id } })
      else await admin.patchManagementKey({ params: { org_id, key_id }, body: { team_role_bindings: [{ team_id: other }] } })
      await expectEnded(tokens)
      expect((await errorOf(api.listUsers())).status).toBe(401)
    }
  })

  test('loses it when the person who created it in the console loses their role', async () => {
    const { org_id, team_id } = w
    const person = await joinOrganization(w, w, { role: 'team_admin', team_role_bindings: [{ team_id }] })
    const tokens = await createTokens(person.forTeam(team_id).api)
    expect(await workingTokens(tokens)).toEqual(WORKING)
    await w.admin.patchMember({ params: { org_id, person_id: person.session.person?.id as string }, body: { role: 'support' } })
    await expectEnded(tokens)
  })
})

describe('rotating a key', () => {
  test('ends the old key and keeps its tokens, which end with the successor', async () => {
    const old = await createKey({ read_only: false })
    const tokens = await createTokens(clientWithKey(old.value))
    const next = await w.admin.rotateTeamKey({ params: { ...deployment(), api_key_id: old.id }, body: {} })
    expect(next).toMatchObject({ label: 'phones', team_id: w.team_id, read_only: false, expires_at: null })
    expect((await errorOf(clientWithKey(old.value).listUsers())).status).toBe(401)
    expect(await workingTokens(tokens)).toEqual(WORKING)
    const last = await w.admin.rotateTeamKey({ params: { ...deployment(), api_key_id: next.id }, body: {} })
    expect(await workingTokens(tokens)).toEqual(WORKING)
    await w.admin.deleteTeamKeys({ params: deployment(), query: { api_key_id: [last.id] } })
    await expectEnded(tokens)
  })

  test('keeps the old key until the time in the request, and never longer than it would have lasted', async () => {
    const at = (minutes: number) => new Date(Date.parse(w.app.wall()) + minutes * MINUTE).toISOString()
    const old = await createKey({ expires_at: at(30) })
    const rotate = (old_key_expires_at: string) =>
      w.admin.rotateTeamKey({ params: { ...deployment(), api_key_id: old.id }, body: { old_key_expires_at } })
    expect(await errorOf(rotate(at(-1)))).toMatchObject({ status: 400, detail: { error_type: 'EXPIRY_IN_THE_PAST' } })
    expect((await rotate(at(60))).expires_at).toBe(old.expires_at)
    const tokens = await createTokens(clientWithKey(old.value))
    w.advanceTime(29 * MINUTE)
    expect(await workingTokens(tokens)).toEqual(WORKING)
    expect(await clientWithKey(old.value).listUsers()).toMatchObject({ total: 1 })
    w.advanceTime(MINUTE)
    expect(await errorOf(clientWithKey(old.value).listUsers())).toMatchObject({ detail: { error_type: 'API_KEY_EXPIRED' } })
  })

  test('of a management key keeps its role, its teams and its tokens', async () => {
    const { org_id, team_id, admin } = w
    const body = { label: 'console', role: 'team_admin' as const, team_role_bindings: [{ team_id }] }
    const { id: key_id, key } = await admin.createManagementKey({ params: { org_id }, body })
    const { access_token } = await createClient(w.base, { 'x-management-key': key }).createAccessToken({
      params: { org_id, team_id },
      body: { env: 'sandbox' },
    })
    const next = await admin.rotateManagementKey({ params: { org_id, key_id }, body: {} })
    expect(next).toMatchObject(body)
    const rotated = createClient(w.base, { 'x-management-key': next.key })
    expect((await errorOf(createClient(w.base, { 'x-management-key': key }).listTeams({ params: { org_id } }))).status).toBe(401)
    expect((await rotated.listTeams({ params: { org_id } })).teams).toHaveLength(1)
    const holder = createClient(w.base, { authorization: `Bearer ${access_token}` })
    expect(await holder.listUsers()).toMatchObject({ total: 0 })
    await admin.deleteManagementKey({ params: { org_id, key_id: next.id } })
    expect((await errorOf(holder.listUsers())).status).toBe(401)
  })

  test('of a management key keeps the old one until the time in the request', async () => {
    const { org_id, admin } = w
    const { id: key_id, key } = await admin.createManagementKey({ params: { org_id }, body: { label: 'script', role: 'org_admin' } })
    const old = createClient(w.base, { 'x-management-key': key })
    const old_key_expires_at = new Date(Date.parse(w.app.wall()) + 30 * MINUTE).toISOString()
    await admin.rotateManagementKey({ params: { org_id, key_id }, body: { old_key_expires_at } })
    w.advanceTime(29 * MINUTE)
    expect((await old.listTeams({ params: { org_id } })).teams).toHaveLength(1)
    w.advanceTime(MINUTE)
    expect(await errorOf(old.listTeams({ params: { org_id } }))).toMatchObject({ detail: { error_type: 'INVALID_MANAGEMENT_KEY' } })
    const { data } = await admin.listManagementKeys({ params: { org_id } })
    expect(data.map(({ id }) => id)).not.toContain(key_id)
  })

  test('of another organization is refused', async () => {
    const other = await w.tenant()
    const { id: api_key_id } = await createKey()
    const params = { ...deployment(), org_id: other.org_id, api_key_id }
    expect(await errorOf(other.admin.rotateTeamKey({ params, body: {} }))).toMatchObject({
      status: 404,
      detail: { error_type: 'TEAM_KEY_NOT_FOUND' },
    })
  })
})
