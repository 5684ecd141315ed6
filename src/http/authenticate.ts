import { deprecatedHeaders } from '../contract/deprecation.ts'
import type { Row } from '../contract/endpoint.ts'
import type { App } from '../platform/app.ts'
import type { Caller, ConsoleUser, LabCaller, LinkCaller, ManagementCaller, TeamCaller } from '../platform/callers.ts'
import { deploymentOf } from '../platform/config.ts'
import { problem } from '../platform/problem.ts'
import { labCaller, managementCaller, teamKeyCaller, tokenCaller } from '../tenants/keys/authenticate.ts'
import { deploymentOfKey, isLabKey, isManagementKey, isUserToken } from '../tenants/keys/rules.ts'
import { userTokenCaller } from '../tenants/keys/user-tokens.ts'
import { sessionCaller } from '../tenants/sessions/authenticate.ts'
import { checkSameOrigin, sessionIn } from '../tenants/sessions/rules.ts'
import { checkReveal, checkRole } from '../tenants/sessions/rules-roles.ts'
import { checkNamedDeployment } from '../tenants/teams/rules.ts'
import { userNotFound } from '../tenants/users/rules.ts'
import { linkCaller } from '../wearables/link/tokens.ts'
import type { Headers, Route } from './request.ts'

/** Who calls, by the kind of credential that the row asks for, or by a console session where none is sent. */
export async function authenticate(app: App, row: Row, headers: Headers): Promise<Caller | undefined> {
  if (row.console) checkSameOrigin(app.config, headers)
  if (row.auth === 'none') return undefined
  if (row.auth === 'lab') return labOf(app, headers)
  if (row.auth === 'link') return linkOf(app, headers)
  const session = hasKey(headers) && row.auth !== 'session' ? undefined : sessionIn(app.config, headers)
  if (session) {
    checkSameOrigin(app.config, headers)
    return sessionCaller(app, row, session, headers)
  }
  if (row.auth === 'session') throw problem('MISSING_SESSION', 'Nobody is signed in at the console; sign in with POST /console/session.')
  return row.auth === 'team' ? teamOf(app, row, headers) : managementOf(app, headers)
}

/** The key came in a header that has a successor. */
export const usedDeprecatedHeader = (row: Row, headers: Headers) =>
  row.auth === 'management' && !text(headers, 'x-management-key') && deprecatedHeaders.some((name) => text(headers, name))

function teamOf(app: App, row: Row, headers: Headers): Promise<TeamCaller> {
  const key = teamKeyIn(headers)
  if (key) return teamKeyCaller(app, key)
  const token = /^Bearer +(\S+)$/i.exec(text(headers, 'authorization') ?? '')?.[1]
  if (token && isUserToken(token)) return userOf(app, row, token)
  if (token && deploymentOfKey(token))
    throw problem('INVALID_ACCESS_TOKEN', 'Authorization: Bearer takes access tokens; send a team API key in x-service-api-key.')
  if (token) return tokenCaller(app, token)
  if (managementKeyIn(headers))
    throw problem(
      'MANAGEMENT_KEY_NOT_ALLOWED',
      'This route takes a team API key in x-service-api-key; a management key cannot be used as one. Create a team API key with the management API.',
    )
  if (text(headers, 'x-lab-key'))
    throw problem(
      'LAB_KEY_NOT_ALLOWED',
      'This route takes a team API key in x-service-api-key; a lab key opens the routes under /lab only.',
    )
  throw problem(
    'MISSING_API_KEY',
    'Missing x-service-api-key. Send a team API key in that header, or an access token as Authorization: Bearer.',
  )
}

/** A phone that somebody else holds may do little. */
function userOf(app: App, row: Row, token: string) {
  if (!row.userToken)
    throw problem(
      'USER_TOKEN_NOT_ALLOWED',
      'This route takes a team API key in x-service-api-key; a sign-in token of a user does not open it.',
    )
  return userTokenCaller(app, token)
}

async function linkOf(app: App, headers: Headers): Promise<LinkCaller> {
  const token = text(headers, 'x-vital-link-token') ?? text(headers, 'x-service-link-token')
  if (token) return linkCaller(app, token)
  throw problem(
    'MISSING_LINK_TOKEN',
    'Missing x-vital-link-token. Make a link token with POST /v2/link/token and send it in that header, or in x-service-link-token.',
  )
}

function managementOf(app: App, headers: Headers): Promise<ManagementCaller> {
  const key = managementKeyIn(headers)
  if (key) return managementCaller(app, key)
  const other = teamCredentialIn(headers)
  const lab = text(headers, 'x-lab-key')
  if ([other, lab].some((sent) => sent && isManagementKey(sent)))
    throw problem('MISSING_MANAGEMENT_KEY', 'Missing X-Management-Key. The management key came in another header; send it in that one.')
  if (lab || (other && isLabKey(other)))
    throw problem(
      'LAB_KEY_NOT_ALLOWED',
      'This route takes a management key in X-Management-Key; a lab key opens the routes under /lab only.',
    )
  if (other)
    throw problem(
      'TEAM_KEY_NOT_ALLOWED',
      'This route takes a management key in X-Management-Key; a team API key or access token cannot be used here.',
    )
  throw problem('MISSING_MANAGEMENT_KEY', 'Missing X-Management-Key. Send a management key in that header.')
}

async function labOf(app: App, headers: Headers): Promise<LabCaller> {
  const key = text(headers, 'x-lab-key')
  if (key) return labCaller(app, key)
  const others = [managementKeyIn(headers), teamCredentialIn(headers)].filter((sent) => sent !== undefined)
  if (others.some(isLabKey)) throw problem('MISSING_LAB_KEY', 'Missing x-lab-key. The lab key came in another header; send it in that one.')
  if (managementKeyIn(headers) || others.some(isManagementKey))
    throw problem('MANAGEMENT_KEY_NOT_ALLOWED', 'This route takes a lab key in x-lab-key; a management key cannot be used here.')
  if (others.length)
    throw problem('TEAM_KEY_NOT_ALLOWED', 'This route takes a lab key in x-lab-key; a team API key or access token cannot be used here.')
  throw problem('MISSING_LAB_KEY', 'Missing x-lab-key. Send the key that the operator made for the lab in that header.')
}

const teamKeyIn = (headers: Headers) => text(headers, 'x-service-api-key') ?? text(headers, 'x-vital-api-key')

const teamCredentialIn = (headers: Headers) => teamKeyIn(headers) ?? text(headers, 'authorization')?.replace(/^Bearer +/i, '')

const managementKeyIn = (headers: Headers) =>
  text(headers, 'x-management-key') ?? deprecatedHeaders.map((name) => text(headers, name)).find(Boolean)

const hasKey = (headers: Headers) => Boolean(teamCredentialIn(headers) || managementKeyIn(headers) || text(headers, 'x-lab-key'))

/** What the caller may not reach although the credential is good. Apart from authenticating, so that the refusal is audited. */
export function checkGates({ name, row, mask }: Route, caller: Caller | undefined) {
  if (!caller || caller.kind === 'lab' || caller.kind === 'link' || caller.kind === 'session') return
  const plan = row.plan ?? planOf(caller.console)
  if (plan && caller.plan !== plan)
    throw problem(
      'PLAN_REQUIRED',
      `This route is available on the ${plan} plan only; ask your operator to change the plan of the organization.`,
    )
  if (caller.console) checkConsole(name, row, caller.console, Boolean(mask))
  if (caller.kind === 'management') return checkScope(row, caller)
  if (row.beta && !caller.betas.includes(row.beta))
    throw problem(
      'CLOSED_BETA',
      `This route is in closed beta (${row.beta}) and the team is not enabled for it; ask your operator to enable it.`,
    )
  if (caller.read_only && row.method !== 'get' && !row.reads)
    throw problem('READ_ONLY_KEY', 'This key may only read; use a key without read_only for changes.')
}

/** A paper cannot be masked, so it is given for a reason or not at all. */
function checkConsole(name: string, row: Row, { role, reason }: ConsoleUser, isPersonal: boolean) {
  checkRole(name, row, role)
  if (reason) checkReveal(role)
  if (row.media && row.media !== 'text/event-stream' && isPersonal && !reason)
    throw problem('REVEAL_REQUIRED', 'This paper is about a person; say why you need it in the header x-assay-reveal.')
}

/** Management keys and people reach data as an access token would, which is minted on the top plan only. */
const planOf = (console: ConsoleUser | undefined) => (console && console.kind !== 'team' ? 'scale' : undefined)

function checkScope(row: Row, { team_ids }: ManagementCaller) {
  if (row.scope === 'org' && team_ids)
    throw problem('ORG_KEY_REQUIRED', 'A Team Management Key cannot access the organization; use an Org Management Key.')
}

type PathParams = { org_id?: string; env?: string; region?: string }

/** What a management path names besides its subject: the organisation and the deployment. */
export function checkPath({ config }: App, caller: Caller | undefined, params: PathParams = {}) {
  if (caller?.kind !== 'management') return
  if (params.org_id && params.org_id.toLowerCase() !== caller.org_id)
    throw problem('ORG_NOT_FOUND', 'No such organization for this key. Use the org_id that came with the key.')
  checkNamedDeployment(deploymentOf(config), { environment: params.env, region: params.region })
}

/** The token of one user shows nothing of another, not even whether there is one. */
export function checkUser(caller: Caller | undefined, user_id: string | undefined) {
  if (caller?.kind === 'team' && caller.user_id && caller.user_id !== user_id?.toLowerCase()) throw userNotFound()
}

/** A header that was sent with something in it. */
function text(headers: Headers, name: string) {
  const value = headers[name]
  return (Array.isArray(value) ? value[0] : value)?.trim() || undefined
}
