import { beforeAll, describe, expect, test } from 'vitest'
import { personRoles } from '../../src/contract/common.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { type EndpointName, endpoints, rows } from '../../src/contract/index.ts'
import { capabilities, consoleRoles } from '../../src/contract/tenants/sessions.ts'
import { capabilitiesOf, requiredCapability } from '../../src/tenants/people/sessions/rules-roles.ts'
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

type RequestInput = { params?: object; query?: object; body?: unknown; headers?: Record<string, string> }

/** Lists one request per capability. */
const requestsByCapability = (): [string, Row, RequestInput][] => {
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

const allowedFor: Record<(typeof personRoles)[number], string[]> = {
  org_admin: ['data.read', 'data.change', 'sandbox.advance', 'personal.reveal', 'team.read', 'team.manage', 'org.manage'],
  team_admin: ['data.read', 'data.change', 'sandbox.advance', 'personal.reveal', 'team.read', 'team.manage'],
  support: ['data.read', 'sandbox.advance', 'team.read'],
  read_only: ['data.read', 'team.read'],
  no_role: [],
}

describe.each(personRoles)('%s', (role) => {
  test('has exactly the capabilities in the table', async () => {
    const { team_id } = tenant
    const { forTeam, session } = await joinOrganization(w, tenant, {
      role,
      ...(role === 'team_admin' ? { team_role_bindings: [{ team_id }] } : {}),
    })
    const allowed: string[] = []
    for (const [name, row, request] of requestsByCapability()) {
      const { status } = await forTeam(team_id).send(row, request)
      expect([name, [200, 403, 404].includes(status)]).toEqual([name, true])
      if (status === 200) allowed.push(name)
    }
    expect(allowed).toEqual(allowedFor[role])
    expect(session.capabilities.filter((capability) => requestsByCapability().some(([name]) => name === capability)).sort()).toEqual(
      [...allowedFor[role]].sort(),
    )
  })
})

test('support can simulate an order in the sandbox', async () => {
  const { forTeam } = await joinOrganization(w, tenant, { role: 'support' })
  expect(await forTeam(tenant.team_id).api.simulateOrder({ params: { order_id }, query: {}, body: null })).toBeTruthy()
})

test.each(['team_admin', 'support', 'read_only'] as const)('%s bound to a team cannot access other teams', async (role) => {
  const { admin, org_id, team_id } = tenant
  const other = await admin.createTeam({ params: { org_id }, body: { name: 'Other', region: 'us' } })
  const { forTeam, api, send } = await joinOrganization(w, tenant, { role, team_role_bindings: [{ team_id }] })
  expect((await api.getSession()).teams.map((team) => team.team_id)).toEqual([team_id])
  expect(await forTeam(team_id).send(endpoints.listUsers)).toMatchObject({ status: 200 })
  expect(await forTeam(other.id).send(endpoints.listUsers)).toMatchObject({ status: 404 })
  expect(await send(endpoints.getTeam, { params: { org_id, team_id: other.id } })).toMatchObject({ status: 404 })
})

const endpointsFor = (role: (typeof consoleRoles)[number]) =>
  rows.filter(([name, row]) => {
    const capability = requiredCapability(name, row)
    return capability && capabilitiesOf(role).includes(capability)
  })

test('read-only roles can call no endpoint that changes data', () => {
  for (const role of ['read_only', 'read_only_key'] as const)
    expect(
      endpointsFor(role).filter(([, row]) => row.method !== 'get' && !row.reads && row.path !== '/v1/org/{org_id}/resolve_team'),
    ).toEqual([])
})

test('roles without management rights can call no endpoint that returns secrets', () => {
  const secret: EndpointName[] = ['getWebhookSecret', 'getWebhookHeaders', 'createAccessToken', 'createTeamKey', 'listManagementKeys']
  for (const role of ['support', 'read_only', 'no_role', 'team_key'] as const)
    expect(endpointsFor(role).filter(([name]) => secret.includes(name))).toEqual([])
})

test('every capability is required by an endpoint and granted to a role', () => {
  const required = new Set(rows.map(([name, row]) => requiredCapability(name, row)))
  expect(capabilities.filter((capability) => capability !== 'personal.reveal' && !required.has(capability))).toEqual([])
  const granted = new Set(consoleRoles.flatMap(capabilitiesOf))
  expect(capabilities.filter((capability) => !granted.has(capability))).toEqual([])
})
