import { beforeAll, describe, expect, test } from 'vitest'
import { personRoles } from '../../src/contract/common.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { type EndpointName, endpoints, rows } from '../../src/contract/index.ts'
import { capabilities, consoleRoles } from '../../src/contract/tenants/sessions.ts'
import { capabilitiesOf, requiredCapability } from '../../src/tenants/sessions/rules-roles.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { placeOrder } from '../support/orders.ts'
import { newUuid } from '../support/seeded.ts'
import { type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
let tenant: Tenant
let order_id: string
beforeAll(async () => {
  w = await world({ env: fastPasswords })
  tenant = await w.tenant()
  order_id = (await placeOrder(tenant.api)).id
  await w.runJobs()
})

type Sent = { params?: object; query?: object; body?: unknown; headers?: Record<string, string> }

/** One request for each thing that a role may allow. */
const deeds = (): [string, Row, Sent][] => {
  const { org_id, team_id } = tenant
  const params = { org_id, team_id, order_id, env: 'sandbox', region: 'us' }
  return [
    ['data.read', endpoints.listOrders, {}],
    ['data.change', endpoints.createUser, { body: { client_user_id: `made-${newUuid()}` } }],
    ['sandbox.advance', endpoints.moveClock, { body: { advance_seconds: 1 } }],
    ['personal.reveal', endpoints.listUsers, { headers: { 'x-assay-reveal': 'a callback' } }],
    ['team.read', endpoints.getTeam, { params }],
    ['team.manage', endpoints.createTeamKey, { params, body: { label: 'made', team_id } }],
    ['org.manage', endpoints.listMembers, { params }],
  ]
}

const may: Record<(typeof personRoles)[number], string[]> = {
  org_admin: ['data.read', 'data.change', 'sandbox.advance', 'personal.reveal', 'team.read', 'team.manage', 'org.manage'],
  team_admin: ['data.read', 'data.change', 'sandbox.advance', 'personal.reveal', 'team.read', 'team.manage'],
  support: ['data.read', 'sandbox.advance', 'team.read'],
  read_only: ['data.read', 'team.read'],
  no_role: [],
}

describe.each(personRoles)('%s', (role) => {
  test('may do what the table says and nothing else', async () => {
    const { team_id } = tenant
    const { forTeam, session } = await joinOrganization(w, tenant, {
      role,
      ...(role === 'team_admin' ? { team_role_bindings: [{ team_id }] } : {}),
    })
    const done: string[] = []
    for (const [name, row, sent] of deeds()) {
      const { status } = await forTeam(team_id).send(row, sent)
      expect([name, [200, 403, 404].includes(status)]).toEqual([name, true])
      if (status === 200) done.push(name)
    }
    expect(done).toEqual(may[role])
    expect(session.capabilities.filter((one) => deeds().some(([name]) => name === one)).sort()).toEqual([...may[role]].sort())
  })
})

test('support takes an order of the sandbox on', async () => {
  const { forTeam } = await joinOrganization(w, tenant, { role: 'support' })
  expect(await forTeam(tenant.team_id).api.simulateOrder({ params: { order_id }, query: {}, body: null })).toBeTruthy()
})

test.each(['team_admin', 'support', 'read_only'] as const)('%s that is bound to a team reaches no other', async (role) => {
  const { admin, org_id, team_id } = tenant
  const other = await admin.createTeam({ params: { org_id }, body: { name: 'Other', region: 'us' } })
  const { forTeam, api, send } = await joinOrganization(w, tenant, { role, team_role_bindings: [{ team_id }] })
  expect((await api.getSession()).teams.map((team) => team.team_id)).toEqual([team_id])
  expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject({ status: 200 })
  expect(await forTeam(other.id).send(endpoints.listUsers)).toMatchObject({ status: 404 })
  expect(await send(endpoints.getTeam, { params: { org_id, team_id: other.id } })).toMatchObject({ status: 404 })
})

const callable = (role: (typeof consoleRoles)[number]) =>
  rows.filter(([name, row]) => {
    const capability = requiredCapability(name, row)
    return capability && capabilitiesOf(role).includes(capability)
  })

test('whoever only reads can call nothing that changes', () => {
  for (const role of ['read_only', 'read_only_key'] as const)
    expect(callable(role).filter(([, row]) => row.method !== 'get' && !row.reads && row.path !== '/v1/org/{org_id}/resolve_team')).toEqual(
      [],
    )
})

test('whoever does not manage sees no secret', () => {
  const secret: EndpointName[] = ['getWebhookSecret', 'getWebhookHeaders', 'createAccessToken', 'createTeamKey', 'listManagementKeys']
  for (const role of ['support', 'read_only', 'no_role', 'team_key'] as const)
    expect(callable(role).filter(([name]) => secret.includes(name))).toEqual([])
})

test('every capability is requiredCapability by something, and given to somebody', () => {
  const asked = new Set(rows.map(([name, row]) => requiredCapability(name, row)))
  expect(capabilities.filter((one) => one !== 'personal.reveal' && !asked.has(one))).toEqual([])
  const given = new Set(consoleRoles.flatMap(capabilitiesOf))
  expect(capabilities.filter((one) => !given.has(one))).toEqual([])
})
