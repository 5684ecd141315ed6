import { deprecatedHeaders } from '../contract/deprecation.ts'
import type { Row } from '../contract/endpoint.ts'
import { authenticateTicket, isSigned } from '../delivery/tickets/authenticate.ts'
import type { App } from '../platform/app.ts'
import type { Caller, ConsoleUser, LabCaller, LinkCaller, ManagementCaller, TeamCaller } from '../platform/callers.ts'
import { deploymentOf } from '../platform/config.ts'
import { problem } from '../platform/problem.ts'
import { authenticateLabKey, authenticateManagementKey, authenticateTeamKey } from '../tenants/keys/authenticate.ts'
import { deploymentOfKey, isLabKey, isManagementKey, isUserToken } from '../tenants/keys/rules.ts'
import { authenticateSession } from '../tenants/people/sessions/authenticate.ts'
import { checkSameOrigin, sessionSecretIn } from '../tenants/people/sessions/rules.ts'
import { checkReveal, checkRole } from '../tenants/people/sessions/rules-roles.ts'
import { checkNamedDeployment } from '../tenants/teams/rules.ts'
import { authenticateAccessToken } from '../tenants/tokens/access-tokens.ts'
import { authenticateUserToken } from '../tenants/tokens/user-tokens.ts'
import { userNotFound } from '../tenants/users/rules.ts'
import { authenticateLinkToken } from '../wearables/link/tokens.ts'
import type { Headers, Route } from './request.ts'

type PathParams = { org_id?: string; env?: string; region?: string; ticket?: string }

/** Identifies the caller by the credential that the row requires. Without one, the console session identifies the caller. */
export async function authenticate(app: App, row: Row, headers: Headers, params: PathParams = {}): Promise<Caller | undefined> {
  if (row.console) checkSameOrigin(app.config, headers)
  if (row.auth === 'none') return undefined
  if (row.auth === 'lab') return authenticateLab(app, headers)
  if (row.auth === 'link') return authenticateLink(app, headers)
  if (row.webhookSignature && !hasKey(headers) && isSigned(headers)) return authenticateTicket(app, params.ticket ?? '', headers)
  const session = hasKey(headers) && row.auth !== 'session' ? undefined : sessionSecretIn(app.config, headers)
  if (session) {
    checkSameOrigin(app.config, headers)
    return authenticateSession(app, row, session, headers)
  }
  if (row.auth === 'session') throw problem('MISSING_SESSION', 'You are not signed in to the console. Sign in with POST /console/session.')
  return row.auth === 'team' ? authenticateTeam(app, row, headers) : authenticateManagement(app, headers)
}

export const usesDeprecatedHeader = (row: Row, headers: Headers) =>
  row.auth === 'management' && !headerValue(headers, 'x-management-key') && deprecatedHeaders.some((name) => headerValue(headers, name))

function authenticateTeam(app: App, row: Row, headers: Headers): Promise<TeamCaller> {
  const key = teamKeyIn(headers)
  if (key) return authenticateTeamKey(app, key, { mayBeKnown: !row.grantsAccess })
  const token = /^Bearer +(\S+)$/i.exec(headerValue(headers, 'authorization') ?? '')?.[1]
  if (token && isUserToken(token)) return authenticateUser(app, row, token)
  if (token && deploymentOfKey(token))
    throw problem('INVALID_ACCESS_TOKEN', 'Authorization: Bearer accepts access tokens only. Send a team API key in x-service-api-key.')
  if (token) return authenticateAccessToken(app, token)
  if (managementKeyIn(headers))
    throw problem(
      'MANAGEMENT_KEY_NOT_ALLOWED',
      'This endpoint requires a team API key in x-service-api-key. You sent a management key. Create a team API key with the management API.',
    )
  if (headerValue(headers, 'x-lab-key'))
    throw problem(
      'LAB_KEY_NOT_ALLOWED',
      'This endpoint requires a team API key in x-service-api-key. A lab key works for endpoints under /lab only.',
    )
  throw problem(
    'MISSING_API_KEY',
    'Missing x-service-api-key. Send a team API key in that header, or an access token as Authorization: Bearer.',
  )
}

/** A user's token lives on a phone, so only the endpoints that the contract marks accept it. */
function authenticateUser(app: App, row: Row, token: string) {
  if (!row.userToken)
    throw problem(
      'USER_TOKEN_NOT_ALLOWED',
      "This endpoint requires a team API key in x-service-api-key. It does not accept a user's sign-in token.",
    )
  return authenticateUserToken(app, token)
}

async function authenticateLink(app: App, headers: Headers): Promise<LinkCaller> {
  const token = headerValue(headers, 'x-vital-link-token') ?? headerValue(headers, 'x-service-link-token')
  if (token) return authenticateLinkToken(app, token)
  throw problem(
    'MISSING_LINK_TOKEN',
    'Missing x-vital-link-token. Create a link token with POST /v2/link/token and send it in that header or in x-service-link-token.',
  )
}

function authenticateManagement(app: App, headers: Headers): Promise<ManagementCaller> {
  const key = managementKeyIn(headers)
  if (key) return authenticateManagementKey(app, key)
  const teamCredential = teamCredentialIn(headers)
  const labKey = headerValue(headers, 'x-lab-key')
  if ([teamCredential, labKey].some((credential) => credential && isManagementKey(credential)))
    throw problem(
      'MISSING_MANAGEMENT_KEY',
      'Missing X-Management-Key. You sent the management key in another header. Send it in X-Management-Key.',
    )
  if (labKey || (teamCredential && isLabKey(teamCredential)))
    throw problem(
      'LAB_KEY_NOT_ALLOWED',
      'This endpoint requires a management key in X-Management-Key. A lab key works for endpoints under /lab only.',
    )
  if (teamCredential)
    throw problem(
      'TEAM_KEY_NOT_ALLOWED',
      'This endpoint requires a management key in X-Management-Key. You sent a team API key or an access token.',
    )
  throw problem('MISSING_MANAGEMENT_KEY', 'Missing X-Management-Key. Send a management key in that header.')
}

async function authenticateLab(app: App, headers: Headers): Promise<LabCaller> {
  const key = headerValue(headers, 'x-lab-key')
  if (key) return authenticateLabKey(app, key)
  const others = [managementKeyIn(headers), teamCredentialIn(headers)].filter((credential) => credential !== undefined)
  if (others.some(isLabKey))
    throw problem('MISSING_LAB_KEY', 'Missing x-lab-key. You sent the lab key in another header. Send it in x-lab-key.')
  if (managementKeyIn(headers) || others.some(isManagementKey))
    throw problem('MANAGEMENT_KEY_NOT_ALLOWED', 'This endpoint requires a lab key in x-lab-key. You sent a management key.')
  if (others.length)
    throw problem('TEAM_KEY_NOT_ALLOWED', 'This endpoint requires a lab key in x-lab-key. You sent a team API key or an access token.')
  throw problem('MISSING_LAB_KEY', 'Missing x-lab-key. Send the lab key that the operator created in that header.')
}

const teamKeyIn = (headers: Headers) => headerValue(headers, 'x-service-api-key') ?? headerValue(headers, 'x-vital-api-key')

const teamCredentialIn = (headers: Headers) => teamKeyIn(headers) ?? headerValue(headers, 'authorization')?.replace(/^Bearer +/i, '')

const managementKeyIn = (headers: Headers) =>
  headerValue(headers, 'x-management-key') ?? deprecatedHeaders.map((name) => headerValue(headers, name)).find(Boolean)

const hasKey = (headers: Headers) => Boolean(teamCredentialIn(headers) || managementKeyIn(headers) || headerValue(headers, 'x-lab-key'))

/** Checks what an authenticated caller may use. This runs after authentication so that the audit log can name the refused caller. */
export function checkGates({ name, row, mask }: Route, caller: Caller | undefined) {
  if (!caller || caller.kind === 'lab' || caller.kind === 'link' || caller.kind === 'session') return
  const plan = row.plan ?? requiredPlan(caller.console)
  if (plan && caller.plan !== plan)
    throw problem('PLAN_REQUIRED', `This endpoint requires the ${plan} plan. Ask your operator to change the organization's plan.`)
  if (caller.console) checkConsole(name, row, caller.console, Boolean(mask))
  if (caller.kind === 'management') return checkScope(row, caller)
  if (row.beta && !caller.betas.includes(row.beta))
    throw problem(
      row.betaStatus ? 'BETA_NOT_ENABLED' : 'CLOSED_BETA',
      `This endpoint is in closed beta (${row.beta}). Ask your operator to enable the beta for your team.`,
    )
  if (caller.read_only && row.method !== 'get' && !row.reads)
    throw problem('READ_ONLY_KEY', 'This key is read-only. Use a key without read_only to make changes.')
}

/** A PDF cannot be masked, so the console must send a reason to read one. */
function checkConsole(name: string, row: Row, { role, reason }: ConsoleUser, isPersonal: boolean) {
  checkRole(name, row, role)
  if (reason) checkReveal(role)
  if (row.media && row.media !== 'text/event-stream' && isPersonal && !reason)
    throw problem('REVEAL_REQUIRED', 'This document contains personal data. Send the reason in x-assay-reveal.')
}

/** A management key or a person reads data with the rights of an access token, which requires the scale plan. */
const requiredPlan = (console: ConsoleUser | undefined) => (console && console.kind !== 'team' ? 'scale' : undefined)

function checkScope(row: Row, { team_ids }: ManagementCaller) {
  if (row.scope === 'org' && team_ids)
    throw problem('ORG_KEY_REQUIRED', 'A Team Management Key cannot access the organization. Use an Org Management Key.')
}

/** Checks that the organization and the deployment in a management path match the key, and who operates the deployment. */
export function checkPath({ config }: App, { operator }: Row, caller: Caller | undefined, params: PathParams = {}) {
  if (caller?.kind !== 'management') return
  if (operator && caller.org_id !== config.OPERATOR_ORG_ID)
    throw problem(
      'OPERATOR_REQUIRED',
      'This endpoint is for the organization that operates the deployment. The operator names it with OPERATOR_ORG_ID.',
    )
  if (params.org_id && params.org_id.toLowerCase() !== caller.org_id)
    throw problem('ORG_NOT_FOUND', 'No such organization for this key. Use the org_id of the organization that the key belongs to.')
  checkNamedDeployment(deploymentOf(config), { environment: params.env, region: params.region })
}

/** A user's token must not reveal whether another user exists, so the refusal is "user not found". */
export function checkUser(caller: Caller | undefined, user_id: string | undefined) {
  if (caller?.kind === 'team' && caller.user_id && caller.user_id !== user_id?.toLowerCase()) throw userNotFound()
}

function headerValue(headers: Headers, name: string) {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value)?.trim() || undefined
}
