import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { DAY, SECOND } from '../../src/platform/time.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { query } from '../support/cluster.ts'
import { browser, consoleHeaders, fastPasswords, joinOrganization, PASSWORD } from '../support/console.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ env: fastPasswords })
})

const refusedFor = (status: number, error_type: string) => ({ status, body: { detail: { error_type } } })
const accept = (body: object) => sendRequest(w.base, endpoints.acceptInvitation, { body, headers: consoleHeaders })
const tokenOf = (link: string | null) => link?.split('#')[1] as string

describe('an invitation', () => {
  test('is listed until it is accepted, and makes a person who is signed in', async () => {
    const tenant = await w.tenant()
    const { admin, org_id, team_id } = tenant
    const email = 'ottoline@harbour.example'
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

  test('shows whom it invites and what to enter into the authenticator', async () => {
    const { admin, org_id } = await w.tenant()
    const { link } = await admin.createInvite({ params: { org_id }, body: { email: 'new@harbour.example' } })
    const seen = await browser(w.base, '').api.openInvitation({ body: { token: tokenOf(link) } })
    expect(seen).toMatchObject({ org_name: 'Harbour Health', email: 'new@harbour.example', role: 'org_admin' })
    expect(seen.totp_secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(seen.totp_uri).toBe(
      `otpauth://totp/Harbour%20Health%3Anew%40harbour.example?secret=${seen.totp_secret}&issuer=Harbour%20Health&algorithm=SHA1&digits=6&period=30`,
    )
  })

  test('works once', async () => {
    const { token, code } = await joinOrganization(w, await w.tenant())
    const over = refusedFor(404, 'INVITATION_OVER')
    expect(await accept({ token, name: 'Second', password: PASSWORD, code: code() })).toMatchObject(over)
    expect(await sendRequest(w.base, endpoints.openInvitation, { body: { token }, headers: consoleHeaders })).toMatchObject(over)
  })

  test('ends when a new one is made, when it is taken back, and after 7 days', async () => {
    const one = await world({ env: fastPasswords })
    const { admin, org_id } = one
    const invite = async () =>
      (await admin.createInvite({ params: { org_id }, body: { email: 'slow@harbour.example' } })) as { link: string }
    const works = async (link: string) =>
      (await sendRequest(one.base, endpoints.openInvitation, { body: { token: tokenOf(link) }, headers: consoleHeaders })).status
    const [first, second] = [await invite(), await invite()]
    expect(second).toMatchObject({ status: 'invite_resent' })
    expect([await works(first.link), await works(second.link)]).toEqual([404, 200])
    const [listed] = (await admin.listInvites({ params: { org_id } })).invites
    await admin.deleteInvite({ params: { org_id, invite_id: listed?.id as string } })
    expect(await works(second.link)).toBe(404)
    const third = await invite()
    one.advanceTime(7 * DAY - SECOND)
    expect(await works(third.link)).toBe(200)
    one.advanceTime(SECOND)
    expect(await works(third.link)).toBe(404)
    expect(await admin.listInvites({ params: { org_id } })).toMatchObject({ invites: [] })
    await one.runJobs()
    expect(await query(one.url, 'select id from invitations where org_id = $1', [org_id])).toEqual([])
  })

  test('two who accept at once become one person', async () => {
    const { admin, org_id } = await w.tenant()
    const { link } = await admin.createInvite({ params: { org_id }, body: { email: 'both@harbour.example' } })
    const token = tokenOf(link)
    const { totp_secret } = await browser(w.base, '').api.openInvitation({ body: { token } })
    const body = { token, name: 'Twice', password: PASSWORD, code: codeAt(fromBase32(totp_secret), stepAt(w.app.wall())) }
    const statuses = (await Promise.all([accept(body), accept(body), accept(body)])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 404, 404])
    expect((await admin.listMembers({ params: { org_id } })).members).toHaveLength(1)
  })

  test.each([
    ['too short', 'short words', 'needs at least 12 characters'],
    ['a common one', 'Password-1234', 'is a common password'],
    ['one letter', 'aaaaaaaaaaaaaaaa', 'needs at least 5 different characters'],
    ['the name in the address', 'lanternist is my name', 'must not contain the name in your email'],
  ])('refuses a password that is %s, and stays', async (_, password, why) => {
    const { admin, org_id } = await w.tenant()
    const { link } = await admin.createInvite({ params: { org_id }, body: { email: 'lanternist@harbour.example' } })
    const answer = await accept({ token: tokenOf(link), name: 'Weak', password, code: '000000' })
    expect(answer).toMatchObject(refusedFor(400, 'WEAK_PASSWORD'))
    expect(JSON.stringify(answer.body)).toContain(why)
    expect((await admin.listInvites({ params: { org_id } })).invites).toHaveLength(1)
  })

  test('refuses a code that the authenticator does not show, and stays', async () => {
    const { admin, org_id } = await w.tenant()
    const { link } = await admin.createInvite({ params: { org_id }, body: { email: 'typo@harbour.example' } })
    expect(await accept({ token: tokenOf(link), name: 'Typo', password: PASSWORD, code: 'abcdef' })).toMatchObject(
      refusedFor(400, 'WRONG_CODE'),
    )
    expect((await admin.listInvites({ params: { org_id } })).invites).toHaveLength(1)
  })

  test('of somebody who is there already makes no link', async () => {
    const tenant = await w.tenant()
    const { email } = await joinOrganization(w, tenant)
    expect(await tenant.admin.createInvite({ params: tenant, body: { email: email.toUpperCase() } })).toEqual({
      status: 'already_in_org',
      id: null,
      link: null,
      expires_at: null,
    })
  })

  test('names the person who invited, also after that person is gone', async () => {
    const tenant = await w.tenant()
    const { admin, org_id } = tenant
    const { api, session, email } = await joinOrganization(w, tenant)
    await api.createInvite({ params: { org_id }, body: { email: 'next@harbour.example' } })
    const creator = async () => (await admin.listInvites({ params: { org_id } })).invites[0]?.creator
    expect(await creator()).toEqual({ type: 'org_member', id: session.person?.id, name: 'Ottoline Keeper', email, avatar: '' })
    await admin.deleteMember({ params: { org_id, person_id: session.person?.id as string } })
    expect(await creator()).toEqual({ type: 'removed_org_member', id: session.person?.id })
  })

  test.each([
    ['team_admin without teams', { role: 'team_admin' as const }, 'TEAM_BINDINGS_REQUIRED'],
    ['org_admin with teams', { role: 'org_admin' as const, team_role_bindings: [{ team_id: newUuid() }] }, 'TEAM_BINDINGS_NOT_ALLOWED'],
    ['support of a team of nobody', { role: 'support' as const, team_role_bindings: [{ team_id: newUuid() }] }, 'UNKNOWN_TEAM'],
  ])('refuses %s', async (_, body, error_type) => {
    const { admin, org_id } = w
    expect(await errorOf(admin.createInvite({ params: { org_id }, body: { email: 'odd@harbour.example', ...body } }))).toMatchObject({
      status: 400,
      detail: { error_type },
    })
    const theirs = (await w.tenant()).team_id
    const foreign = { email: 'odd@harbour.example', role: 'support' as const, team_role_bindings: [{ team_id: theirs }] }
    expect(await errorOf(admin.createInvite({ params: { org_id }, body: foreign }))).toMatchObject({
      detail: { error_type: 'UNKNOWN_TEAM' },
    })
  })
})
