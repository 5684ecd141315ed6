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
  second = await createSecondTeam()
  const { org_id, team_id } = mine
  ids = {
    first: await aLabAccount(w.app.db, { org_id, team_id }),
    second: await aLabAccount(w.app.db, { org_id, team_id: second.id, lab_id: 2 }),
    suspended: await aLabAccount(w.app.db, { org_id, team_id, lab_id: 3, status: 'suspended' }),
  }
})

/** Creates a second team in the organization, with its own Team Management Key and team API key. */
async function createSecondTeam() {
  const { id } = await mine.admin.createTeam({ params: mine, body: { name: 'Second', region: 'us' } })
  const { key } = await mine.admin.createManagementKey({
    params: mine,
    body: { label: 'bound', role: 'team_admin', team_role_bindings: [{ team_id: id }] },
  })
  const { value } = await mine.admin.createTeamKey({ params: deploymentParams(), body: { label: 'second', team_id: id } })
  return { id, admin: createClient(w.base, { 'x-management-key': key }), api: createClient(w.base, { 'x-service-api-key': value }) }
}

const deploymentParams = () => ({ org_id: mine.org_id, env: 'sandbox' as const, region: 'us' as const })
const accountParams = (account_id: string) => ({ ...deploymentParams(), account_id })

describe('lab accounts for an Org Management Key', () => {
  const listIds = async (query: object = {}) =>
    (await mine.admin.listOrgLabAccounts({ params: deploymentParams(), query })).data.map(({ id }) => id)

  test('include the accounts of the organization but not those of the platform', async () => {
    const { data } = await mine.admin.listOrgLabAccounts({ params: deploymentParams() })
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

  test('can be filtered by ID, team and status', async () => {
    expect(await listIds({ lab_account_id: ids.second })).toEqual([ids.second])
    expect(await listIds({ team_id: second.id })).toEqual([ids.second])
    expect(await listIds({ status: 'suspended' })).toEqual([ids.suspended])
    expect(await listIds({ status: 'active', team_id: mine.team_id })).toEqual([ids.first])
    expect(await listIds({ team_id: newUuid() })).toEqual([])
  })

  test('exclude the accounts of another organization', async () => {
    const other = await w.tenant()
    const { data } = await other.admin.listOrgLabAccounts({ params: { ...deploymentParams(), org_id: other.org_id } })
    expect(data).toEqual([])
  })
})

describe('a Team Management Key', () => {
  test('sees the accounts open to its team and no other team in their allowlists', async () => {
    const shared = await aLabAccount(w.app.db, { org_id: mine.org_id, team_id: mine.team_id, lab_id: 5 })
    await mine.admin.patchLabAccount({ params: accountParams(shared), body: { team_id_allowlist: [mine.team_id, second.id] } })
    const { data } = await second.admin.listOrgLabAccounts({ params: deploymentParams() })
    expect(data.map(({ id, team_id_allowlist }) => [id, team_id_allowlist])).toEqual([
      [ids.second, [second.id]],
      [shared, [second.id]],
    ])
    const filtered = await second.admin.listOrgLabAccounts({ params: deploymentParams(), query: { team_id: mine.team_id } })
    expect(filtered.data).toEqual([])
  })

  test('cannot change the allowlist of an account', async () => {
    const call = second.admin.patchLabAccount({ params: accountParams(ids.second), body: { team_id_allowlist: [] } })
    expect(await errorOf(call)).toMatchObject({ status: 403, detail: { error_type: 'ORG_KEY_REQUIRED' } })
  })
})

describe('the allowlist of an account', () => {
  const allow = (account_id: string, team_id_allowlist: string[]) =>
    mine.admin.patchLabAccount({ params: accountParams(account_id), body: { team_id_allowlist } })
  const canSee = async (api: Client, lab_account_id: string) => (await api.listLabAccounts({ query: { lab_account_id } })).data.length === 1

  test('opens the account to exactly the listed teams at once', async () => {
    const id = await aLabAccount(w.app.db, mine)
    const { lab_account } = await allow(id, [second.id, mine.team_id, second.id])
    expect(lab_account).toMatchObject({ id, team_id_allowlist: [mine.team_id, second.id].sort() })
    expect([await canSee(mine.api, id), await canSee(second.api, id)]).toEqual([true, true])
    await allow(id, [second.id])
    expect([await canSee(mine.api, id), await canSee(second.api, id)]).toEqual([false, true])
    expect(await allow(id, [])).toMatchObject({ lab_account: { team_id_allowlist: [] } })
    expect(await canSee(second.api, id)).toBe(false)
  })

  test('rejects a team of another organization and changes nothing', async () => {
    const other = await w.tenant()
    for (const unknownTeam of [other.team_id, newUuid()])
      expect(await errorOf(allow(ids.first, [second.id, unknownTeam]))).toMatchObject({
        status: 400,
        detail: { error_type: 'UNKNOWN_TEAM' },
      })
    expect([await canSee(mine.api, ids.first), await canSee(second.api, ids.first)]).toEqual([true, false])
  })

  test('drops a deleted team', async () => {
    const deletedTeam = await mine.admin.createTeam({ params: mine, body: { name: 'Deleted', region: 'us' } })
    const id = await aLabAccount(w.app.db, { org_id: mine.org_id, team_id: deletedTeam.id })
    await mine.admin.deleteTeam({ params: { org_id: mine.org_id, team_id: deletedTeam.id } })
    const { data } = await mine.admin.listOrgLabAccounts({ params: deploymentParams(), query: { lab_account_id: id } })
    expect(data).toMatchObject([{ id, team_id_allowlist: [] }])
    expect((await mine.admin.listOrgLabAccounts({ params: deploymentParams(), query: { team_id: deletedTeam.id } })).data).toEqual([])
    expect(await errorOf(allow(id, [deletedTeam.id]))).toMatchObject({ status: 400, detail: { error_type: 'UNKNOWN_TEAM' } })
  })

  test('returns 404 for an account of another organization or the platform', async () => {
    const other = await w.tenant()
    const theirs = await aLabAccount(w.app.db, other)
    const [platform] = (await mine.api.listLabAccounts()).data
    for (const id of [theirs, platform?.id as string, newUuid()])
      expect(await errorOf(allow(id, []))).toMatchObject({ status: 404, detail: { error_type: 'LAB_ACCOUNT_NOT_FOUND' } })
  })

  test('is required', async () => {
    const call = mine.admin.patchLabAccount({ params: accountParams(ids.first), body: {} as { team_id_allowlist: string[] } })
    expect(await errorOf(call)).toMatchObject({ status: 422, detail: [{ loc: ['body', 'team_id_allowlist'] }] })
  })
})

test('rejects the path of another organization or deployment', async () => {
  const other = await w.tenant()
  const list = (change: object) => errorOf(mine.admin.listOrgLabAccounts({ params: { ...deploymentParams(), ...change } }))
  expect(await list({ org_id: other.org_id })).toMatchObject({ status: 404, detail: { error_type: 'ORG_NOT_FOUND' } })
  expect(await list({ env: 'production' })).toMatchObject({ status: 400, detail: { error_type: 'WRONG_DEPLOYMENT' } })
  expect(await list({ region: 'eu' })).toMatchObject({ status: 400, detail: { error_type: 'WRONG_DEPLOYMENT' } })
})
