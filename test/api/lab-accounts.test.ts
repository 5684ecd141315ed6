import { beforeAll, describe, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/contract/client.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
let mine: Tenant
let second: { id: string; admin: Client; api: Client }
let ids: { first: string; second: string; suspended: string }
beforeAll(async () => {
  w = await world()
  mine = await w.tenant()
  second = await anotherTeam()
  const { org_id, team_id } = mine
  ids = {
    first: await aLabAccount(w.app.db, { org_id, team_id }),
    second: await aLabAccount(w.app.db, { org_id, team_id: second.id, lab_id: 2 }),
    suspended: await aLabAccount(w.app.db, { org_id, team_id, lab_id: 3, status: 'suspended' }),
  }
})

/** A further team of the organisation, with a Team Management Key and a team key of its own. */
async function anotherTeam() {
  const { id } = await mine.admin.createTeam({ params: mine, body: { name: 'Second', region: 'us' } })
  const { key } = await mine.admin.createManagementKey({
    params: mine,
    body: { label: 'bound', role: 'team_admin', team_role_bindings: [{ team_id: id }] },
  })
  const { value } = await mine.admin.createTeamKey({ params: here(), body: { label: 'second', team_id: id } })
  return { id, admin: createClient(w.base, { 'x-management-key': key }), api: createClient(w.base, { 'x-service-api-key': value }) }
}

const here = () => ({ org_id: mine.org_id, env: 'sandbox' as const, region: 'us' as const })
const at = (account_id: string) => ({ ...here(), account_id })

describe("the lab accounts of an organisation's management key", () => {
  const listed = async (query: object = {}) => (await mine.admin.listOrgLabAccounts({ params: here(), query })).data.map(({ id }) => id)

  test('are those of the organisation, as the teams see them, and not those of the platform', async () => {
    const { data } = await mine.admin.listOrgLabAccounts({ params: here() })
    expect(data[0]).toEqual((await mine.api.listLabAccounts({ query: { lab_account_id: ids.first } })).data[0])
    expect(data).toMatchObject([
      {
        id: ids.first,
        lab: 'quillmoor',
        status: 'active',
        team_id_allowlist: [mine.team_id],
        allowed_billing: { client_bill: ['AZ', 'CA'] },
      },
      { id: ids.second, lab: 'wrenfield', team_id_allowlist: [second.id] },
      { id: ids.suspended, lab: 'larkstone', status: 'suspended' },
    ])
  })

  test('can be narrowed', async () => {
    expect(await listed({ lab_account_id: ids.second })).toEqual([ids.second])
    expect(await listed({ team_id: second.id })).toEqual([ids.second])
    expect(await listed({ status: 'suspended' })).toEqual([ids.suspended])
    expect(await listed({ status: 'active', team_id: mine.team_id })).toEqual([ids.first])
    expect(await listed({ team_id: newUuid() })).toEqual([])
  })

  test('of another organisation are not there', async () => {
    const other = await w.tenant()
    const { data } = await other.admin.listOrgLabAccounts({ params: { ...here(), org_id: other.org_id } })
    expect(data).toEqual([])
  })
})

describe('a Team Management Key', () => {
  test('sees the accounts that are open to its team, and no other team', async () => {
    const shared = await aLabAccount(w.app.db, { org_id: mine.org_id, team_id: mine.team_id, lab_id: 5 })
    await mine.admin.patchLabAccount({ params: at(shared), body: { team_id_allowlist: [mine.team_id, second.id] } })
    const { data } = await second.admin.listOrgLabAccounts({ params: here() })
    expect(data.map(({ id, team_id_allowlist }) => [id, team_id_allowlist])).toEqual([
      [ids.second, [second.id]],
      [shared, [second.id]],
    ])
    const asked = await second.admin.listOrgLabAccounts({ params: here(), query: { team_id: mine.team_id } })
    expect(asked.data).toEqual([])
  })

  test('does not decide which teams use an account', async () => {
    const call = second.admin.patchLabAccount({ params: at(ids.second), body: { team_id_allowlist: [] } })
    expect(await errorOf(call)).toMatchObject({ status: 403, detail: { error_type: 'ORG_KEY_REQUIRED' } })
  })
})

describe('the allowlist of an account', () => {
  const allow = (account_id: string, team_id_allowlist: string[]) =>
    mine.admin.patchLabAccount({ params: at(account_id), body: { team_id_allowlist } })
  const sees = async (api: Client, lab_account_id: string) => (await api.listLabAccounts({ query: { lab_account_id } })).data.length === 1

  test('opens it to exactly the teams that are named, at once', async () => {
    const id = await aLabAccount(w.app.db, mine)
    const { lab_account } = await allow(id, [second.id, mine.team_id, second.id])
    expect(lab_account).toMatchObject({ id, team_id_allowlist: [mine.team_id, second.id].sort() })
    expect([await sees(mine.api, id), await sees(second.api, id)]).toEqual([true, true])
    await allow(id, [second.id])
    expect([await sees(mine.api, id), await sees(second.api, id)]).toEqual([false, true])
    expect(await allow(id, [])).toMatchObject({ lab_account: { team_id_allowlist: [] } })
    expect(await sees(second.api, id)).toBe(false)
  })

  test('takes no team of another organisation, and then changes nothing', async () => {
    const other = await w.tenant()
    for (const stranger of [other.team_id, newUuid()])
      expect(await errorOf(allow(ids.first, [second.id, stranger]))).toMatchObject({ status: 400, detail: { error_type: 'UNKNOWN_TEAM' } })
    expect([await sees(mine.api, ids.first), await sees(second.api, ids.first)]).toEqual([true, false])
  })

  test('forgets a team that was deleted', async () => {
    const gone = await mine.admin.createTeam({ params: mine, body: { name: 'Gone', region: 'us' } })
    const id = await aLabAccount(w.app.db, { org_id: mine.org_id, team_id: gone.id })
    await mine.admin.deleteTeam({ params: { org_id: mine.org_id, team_id: gone.id } })
    const { data } = await mine.admin.listOrgLabAccounts({ params: here(), query: { lab_account_id: id } })
    expect(data).toMatchObject([{ id, team_id_allowlist: [] }])
    expect((await mine.admin.listOrgLabAccounts({ params: here(), query: { team_id: gone.id } })).data).toEqual([])
    expect(await errorOf(allow(id, [gone.id]))).toMatchObject({ status: 400, detail: { error_type: 'UNKNOWN_TEAM' } })
  })

  test('of an account that the organisation does not have is not found', async () => {
    const other = await w.tenant()
    const theirs = await aLabAccount(w.app.db, other)
    const [platform] = (await mine.api.listLabAccounts()).data
    for (const id of [theirs, platform?.id as string, newUuid()])
      expect(await errorOf(allow(id, []))).toMatchObject({ status: 404, detail: { error_type: 'LAB_ACCOUNT_NOT_FOUND' } })
  })

  test('is required', async () => {
    const call = mine.admin.patchLabAccount({ params: at(ids.first), body: {} as { team_id_allowlist: string[] } })
    expect(await errorOf(call)).toMatchObject({ status: 422, detail: [{ loc: ['body', 'team_id_allowlist'] }] })
  })
})

test('paths of another organisation or deployment are refused', async () => {
  const other = await w.tenant()
  const list = (change: object) => errorOf(mine.admin.listOrgLabAccounts({ params: { ...here(), ...change } }))
  expect(await list({ org_id: other.org_id })).toMatchObject({ status: 404, detail: { error_type: 'ORG_NOT_FOUND' } })
  expect(await list({ env: 'production' })).toMatchObject({ status: 400, detail: { error_type: 'WRONG_DEPLOYMENT' } })
  expect(await list({ region: 'eu' })).toMatchObject({ status: 400, detail: { error_type: 'WRONG_DEPLOYMENT' } })
})
