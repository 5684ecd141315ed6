import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { browser, consoleHeaders, fastPasswords, joinOrganization, PASSWORD } from '../support/console.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ env: fastPasswords })
})

const refusedFor = (status: number, error_type: string) => ({ status, body: { detail: { error_type } } })
const accept = (body: object) => sendRequest(w.base, endpoints.acceptInvitation, { body, headers: consoleHeaders })
const complete = (body: object) => sendRequest(w.base, endpoints.completeInvitation, { body, headers: consoleHeaders })
const tokenOf = (link: string | null) => link?.split('#')[1] as string

describe('invitations', () => {
  test('lists an invitation until it is accepted, then creates a signed-in person', async () => {
    const tenant = await w.tenant()
    const { admin, org_id, team_id } = tenant
    const email = 'ottoline@harbor.example'
    const body = { email, role: 'team_admin' as const, team_role_bindings: [{ team_id }] }
    const { status, link, expires_at } = await admin.createInvite({ params: { org_id }, body })
    expect(status).toBe('invite_created')
    expect(link).toMatch(/\/console\/invitation#iv_\w{46}$/)
    expect(Date.parse(expires_at as string) - Date.parse(w.app.wall())).toBeCloseTo(7 * DAY, -5)
    expect((await admin.listInvites({ params: { org_id } })).invites).toMatchObject([
      { email, role: 'team_admin', team_role_bindings: [{ team_id }], creator: { type: 'management_key' }, resent_at: null },
    ])

    const { api, session, recovery_codes } = await joinOrganization(w, tenant, { ...body })
    expect(session).toMatchObject({ kind: 'person', role: 'team_admin', person: { name: 'Ottoline Keeper', email }, teams: [{ team_id }] })
    expect(await api.getSession()).toMatchObject({ person: { email } })
    expect(new Set(recovery_codes).size).toBe(10)
    expect(recovery_codes[0]).toMatch(/^[a-z2-7]{5}-[a-z2-7]{5}$/)
    expect((await admin.listInvites({ params: { org_id } })).invites).toEqual([])
    expect((await admin.listMembers({ params: { org_id } })).members).toMatchObject([
      { name: 'Ottoline Keeper', email, role: 'team_admin', team_role_bindings: [{ team_id }] },
    ])
  })

  test('shows the invited email and the role, and the authenticator secret once it is accepted', async () => {
    const { admin, org_id } = await w.tenant()
    const { link } = await admin.createInvite({ params: { org_id }, body: { email: 'new@harbor.example' } })
    const { api } = browser(w.base, '')
    const token = tokenOf(link)
    expect(await api.openInvitation({ body: { token } })).toMatchObject({
      org_name: 'Harbor Health',
      email: 'new@harbor.example',
      role: 'org_admin',
    })
    const { totp_secret, totp_uri } = await api.acceptInvitation({ body: { token, name: 'New', password: PASSWORD } })
    expect(totp_secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(totp_uri).toBe(
      `otpauth://totp/Harbor%20Health%3Anew%40harbor.example?secret=${totp_secret}&issuer=Harbor%20Health&algorithm=SHA1&digits=6&period=30`,
    )
  })

  test('accepts an invitation only once', async () => {
    const { token, code, setup } = await joinOrganization(w, await w.tenant())
    const expired = refusedFor(404, 'INVITATION_OVER')
    expect(await accept({ token, name: 'Second', password: PASSWORD })).toMatchObject(expired)
    expect(await complete({ token, setup, code: code() })).toMatchObject(expired)
    expect(await sendRequest(w.base, endpoints.openInvitation, { body: { token }, headers: consoleHeaders })).toMatchObject(expired)
  })

  test('ends an invitation when it is resent or deleted, and after 7 days', async () => {
    const instance = await world({ env: fastPasswords })
    const { admin, org_id } = instance
    const invite = async () =>
      (await admin.createInvite({ params: { org_id }, body: { email: 'slow@harbor.example' } })) as { link: string }
    const openStatus = async (link: string) =>
      (await sendRequest(instance.base, endpoints.openInvitation, { body: { token: tokenOf(link) }, headers: consoleHeaders })).status
    const [first, second] = [await invite(), await invite()]
    expect(second).toMatchObject({ status: 'invite_resent' })
    expect([await openStatus(first.link), await openStatus(second.link)]).toEqual([404, 200])
    const [listed] = (await admin.listInvites({ params: { org_id } })).invites
    await admin.deleteInvite({ params: { org_id, invite_id: listed?.id as string } })
    expect(await openStatus(second.link)).toBe(404)
    const third = await invite()
    instance.advanceTime(7 * DAY - MINUTE)
    expect(await openStatus(third.link)).toBe(200)
    instance.advanceTime(MINUTE)
    expect(await openStatus(third.link)).toBe(404)
    expect(await admin.listInvites({ params: { org_id } })).toMatchObject({ invites: [] })
    await instance.runJobs()
    expect(await query(instance.url, 'select id from invitations where org_id = $1', [org_id])).toEqual([])
  })

  test('creates one person for concurrent acceptances', async () => {
    const { admin, org_id } = await w.tenant()
    const { link } = await admin.createInvite({ params: { org_id }, body: { email: 'both@harbor.example' } })
    const token = tokenOf(link)
    const { totp_secret, setup } = await browser(w.base, '').api.acceptInvitation({ body: { token, name: 'Twice', password: PASSWORD } })
    const body = { token, setup, code: codeAt(fromBase32(totp_secret), stepAt(w.app.wall())) }
    const statuses = (await Promise.all([complete(body), complete(body), complete(body)])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 404, 404])
    expect((await admin.listMembers({ params: { org_id } })).members).toHaveLength(1)
  })

  test.each([
    ['a short password', 'short words', 'needs at least 12 characters'],
    ['a common password', 'Password-1234', 'is common or follows a pattern'],
    ['a password that contains the email name', 'lanternist is my name', 'must not contain the name in your email'],
  ])('rejects %s and keeps the invitation', async (_, password, reason) => {
    const { admin, org_id } = await w.tenant()
    const { link } = await admin.createInvite({ params: { org_id }, body: { email: 'lanternist@harbor.example' } })
    const response = await accept({ token: tokenOf(link), name: 'Weak', password })
    expect(response).toMatchObject(refusedFor(400, 'WEAK_PASSWORD'))
    expect(JSON.stringify(response.body)).toContain(reason)
    expect((await admin.listInvites({ params: { org_id } })).invites).toHaveLength(1)
  })

  test('rejects a wrong code and keeps the invitation', async () => {
    const { admin, org_id } = await w.tenant()
    const { link } = await admin.createInvite({ params: { org_id }, body: { email: 'typo@harbor.example' } })
    const token = tokenOf(link)
    const { setup } = await browser(w.base, '').api.acceptInvitation({ body: { token, name: 'Typo', password: PASSWORD } })
    expect(await complete({ token, setup, code: 'abcdef' })).toMatchObject(refusedFor(400, 'WRONG_CODE'))
    expect((await admin.listInvites({ params: { org_id } })).invites).toHaveLength(1)
  })

  test('returns no link for an existing member', async () => {
    const tenant = await w.tenant()
    const { email } = await joinOrganization(w, tenant)
    expect(await tenant.admin.createInvite({ params: tenant, body: { email: email.toUpperCase() } })).toEqual({
      status: 'already_in_org',
      id: null,
      link: null,
      expires_at: null,
    })
  })

  test('names the inviter, even after the inviter was removed', async () => {
    const tenant = await w.tenant()
    const { admin, org_id } = tenant
    const { api, session, email } = await joinOrganization(w, tenant)
    await api.createInvite({ params: { org_id }, body: { email: 'next@harbor.example' } })
    const creator = async () => (await admin.listInvites({ params: { org_id } })).invites[0]?.creator
    expect(await creator()).toEqual({ type: 'org_member', id: session.person?.id, name: 'Ottoline Keeper', email, avatar: '' })
    await admin.deleteMember({ params: { org_id, person_id: session.person?.id as string } })
    expect(await creator()).toEqual({ type: 'removed_org_member', id: session.person?.id })
  })

  test.each([
    ['team_admin without teams', { role: 'team_admin' as const }, 'TEAM_BINDINGS_REQUIRED'],
    ['org_admin with teams', { role: 'org_admin' as const, team_role_bindings: [{ team_id: newUuid() }] }, 'TEAM_BINDINGS_NOT_ALLOWED'],
    ['support with an unknown team', { role: 'support' as const, team_role_bindings: [{ team_id: newUuid() }] }, 'UNKNOWN_TEAM'],
  ])('rejects %s', async (_, body, error_type) => {
    const { admin, org_id } = w
    expect(await errorOf(admin.createInvite({ params: { org_id }, body: { email: 'odd@harbor.example', ...body } }))).toMatchObject({
      status: 400,
      detail: { error_type },
    })
    const theirs = (await w.tenant()).team_id
    const foreign = { email: 'odd@harbor.example', role: 'support' as const, team_role_bindings: [{ team_id: theirs }] }
    expect(await errorOf(admin.createInvite({ params: { org_id }, body: foreign }))).toMatchObject({
      detail: { error_type: 'UNKNOWN_TEAM' },
    })
  })
})
