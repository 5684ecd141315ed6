import type { Row } from '../../contract/endpoint.ts'
import type { Capability, ConsoleRole } from '../../contract/tenants/sessions.ts'
import { problem } from '../../platform/problem.ts'

const reading = ['data.read', 'team.read'] as const
const changing = ['data.read', 'data.change', 'sandbox.advance', 'critical.acknowledge', 'personal.reveal'] as const

/** Who may do what at the console. `docs/security.md` has it as a table. */
const mayDo: Record<ConsoleRole, readonly Capability[]> = {
  org_admin: [...changing, 'team.read', 'team.manage', 'audit.read', 'org.manage'],
  team_admin: [...changing, 'team.read', 'team.manage', 'audit.read'],
  support: [...reading, 'sandbox.advance', 'critical.acknowledge'],
  read_only: reading,
  no_role: [],
  team_key: changing,
  read_only_key: ['data.read', 'personal.reveal'],
}

export const capabilitiesOf = (role: ConsoleRole) => [...mayDo[role]]

/** What a row asks for that does not follow from its kind. */
const special: Record<string, Capability> = {
  simulateOrder: 'sandbox.advance',
  moveClock: 'sandbox.advance',
  resetClock: 'sandbox.advance',
  emptyInbox: 'sandbox.advance',
  acknowledgeCritical: 'critical.acknowledge',
  listAudit: 'audit.read',
  // Tokens of end users at their sources: not for a browser of whoever manages less than everything.
  bulkExport: 'org.manage',
}

/** What may be read of the management side by whoever does not manage: nothing that is a secret, and no new row by accident. */
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

/** Which capability a row needs. */
export function needed(name: string, row: Row): Capability | undefined {
  if (row.auth !== 'team' && row.auth !== 'management') return undefined
  if (special[name]) return special[name]
  if (row.auth === 'team') return row.method === 'get' || row.reads ? 'data.read' : 'data.change'
  if (row.scope === 'org') return 'org.manage'
  return teamReads.has(name) ? 'team.read' : 'team.manage'
}

export function checkRole(name: string, row: Row, role: ConsoleRole) {
  const capability = needed(name, row)
  if (capability && !mayDo[role].includes(capability))
    throw problem(
      'ROLE_REQUIRED',
      `This needs ${capability}, which the role ${role} does not have; ask an administrator of the organisation.`,
    )
}

export function checkReveal(role: ConsoleRole) {
  if (!mayDo[role].includes('personal.reveal'))
    throw problem('REVEAL_NOT_ALLOWED', `The role ${role} sees personal data masked only; leave x-assay-reveal out.`)
}
