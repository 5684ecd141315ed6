import type { Row } from '../../../contract/endpoint.ts'
import type { Capability, ConsoleRole } from '../../../contract/tenants/sessions.ts'
import { problem } from '../../../platform/problem.ts'

const readCapabilities = ['data.read', 'team.read'] as const
const changeCapabilities = ['data.read', 'data.change', 'sandbox.advance', 'critical.acknowledge', 'personal.reveal'] as const

/** The console capabilities of each role; `docs/security.md` has the same table. */
const capabilitiesByRole: Record<ConsoleRole, readonly Capability[]> = {
  org_admin: [...changeCapabilities, 'team.read', 'team.manage', 'audit.read', 'org.manage', 'deployment.operate'],
  team_admin: [...changeCapabilities, 'team.read', 'team.manage', 'audit.read'],
  support: [...readCapabilities, 'sandbox.advance', 'critical.acknowledge'],
  read_only: readCapabilities,
  no_role: [],
  team_key: changeCapabilities,
  read_only_key: ['data.read', 'personal.reveal'],
}

export const hasCapability = (role: ConsoleRole, capability: Capability) => capabilitiesByRole[role].includes(capability)

export const capabilitiesOf = (role: ConsoleRole) => [...capabilitiesByRole[role]]

/** Only administrators of the operator's organization operate the deployment. */
export const capabilitiesIn = (role: ConsoleRole, isOperator: boolean) =>
  capabilitiesOf(role).filter((capability) => isOperator || capability !== 'deployment.operate')

/** Capabilities of endpoints that do not follow from their auth and method. */
const capabilityByEndpoint: Record<string, Capability> = {
  simulateOrder: 'sandbox.advance',
  moveClock: 'sandbox.advance',
  resetClock: 'sandbox.advance',
  emptyInbox: 'sandbox.advance',
  acknowledgeCritical: 'critical.acknowledge',
  listAudit: 'audit.read',
  // The export contains end users' provider tokens, so only an org_admin may call it from a browser.
  bulkExport: 'org.manage',
}

/** Management endpoints that `team.read` allows. The list is explicit, so a new endpoint is denied by default, and none returns a secret. */
const teamReads = new Set([
  'listTeams',
  'getTeam',
  'resolveTeam',
  'listOrgLabAccounts',
  'listWebhooks',
  'getWebhook',
  'listWebhookAttempts',
  'getWebhookAttempt',
  'listWebhookMessages',
  'listWebhookJobs',
  'getWebhookJob',
  'listPipelines',
])

export function requiredCapability(name: string, row: Row): Capability | undefined {
  if (row.auth !== 'team' && row.auth !== 'management') return undefined
  if (capabilityByEndpoint[name]) return capabilityByEndpoint[name]
  if (row.auth === 'team') return row.method === 'get' || row.reads ? 'data.read' : 'data.change'
  if (row.operator) return 'deployment.operate'
  if (row.scope === 'org') return 'org.manage'
  return teamReads.has(name) ? 'team.read' : 'team.manage'
}

export function checkRole(name: string, row: Row, role: ConsoleRole) {
  const capability = requiredCapability(name, row)
  if (capability && !hasCapability(role, capability))
    throw problem('ROLE_REQUIRED', `Your role ${role} lacks the capability ${capability}. Ask an administrator of your organization.`)
}

export function checkReveal(role: ConsoleRole) {
  if (!hasCapability(role, 'personal.reveal'))
    throw problem('REVEAL_NOT_ALLOWED', `Your role ${role} only sees masked personal data. Omit the x-assay-reveal header.`)
}
