import { type App, type AppInRequest, inTransaction } from '../../../platform/app.ts'
import { isUniqueViolation } from '../../../platform/db/errors.ts'
import { setupProblem } from '../../../platform/problem.ts'
import { open, seal } from '../../../platform/sealing/seal.ts'
import { orgSealingKey } from '../../../platform/sealing/vault.ts'
import { later, SECOND } from '../../../platform/time.ts'
import { auditRow, recordChange } from '../../audit/actions.ts'
import { findFirstOrgAndTeam } from '../../teams/orgs.ts'
import { countAgainstLimit } from '../sessions/attempt-limiter.ts'
import { loadPersonHolder } from '../sessions/authenticate.ts'
import { networkOf } from '../sessions/rules.ts'
import { openSession } from '../sessions/sign-in.ts'
import { uncountAttempt } from '../sessions/sign-in-limiter.ts'
import { joinBySso } from './join.ts'
import { authorizationUrl, exchangeCode, FLOW_SECONDS, type Flow, failureFields } from './provider.ts'
import { type Identity, type SsoFailure, scopeOfGroups } from './rules.ts'

type SealedFlow = Flow & { expires_at: string }

const FLOW = 'sso.flow'

/** Starts a sign-in. `cookie` binds it to the browser: without it, nobody can finish. */
export async function startSso(app: App) {
  const { url, flow } = await authorizationUrl(app)
  const sealed: SealedFlow = { ...flow, expires_at: later(app.wall(), FLOW_SECONDS * SECOND) }
  return { url, cookie: seal(orgSealingKey(app, await orgOf(app)), FLOW, sealed).toString('base64url') }
}

/**
 * Finishes a sign-in and opens a session, or returns the reason why it failed. Failures are limited per network. Those without
 * a valid cookie have a separate limit and no audit row, because any visitor can cause them.
 */
export async function finishSso(app: AppInRequest, search: string, cookie: string | undefined): Promise<SsoFailure | undefined> {
  const network = networkOf(app.request.address)
  const org_id = await orgOf(app)
  const flow = openFlow(app, org_id, cookie)
  if (!flow) {
    await countAgainstLimit(app, `single sign-on without a flow at ${network}`)
    return 'SSO_FAILED'
  }
  const limiterKey = `single sign-on at ${network}`
  await countAgainstLimit(app, limiterKey)
  const failure = await finishFlow(app, org_id, search, flow)
  if (!failure) await uncountAttempt(app, limiterKey)
  return failure
}

async function finishFlow(app: AppInRequest, org_id: string, search: string, flow: Flow): Promise<SsoFailure | undefined> {
  const found = await exchangeCode(app, search, flow).catch((error) => {
    app.log.warn({ request_id: app.request.request_id, ...failureFields(error) }, 'single sign-on failed')
  })
  if (!found) return fail(app, org_id, 'SSO_FAILED')
  if (!found.identity) return fail(app, org_id, 'SSO_NO_EMAIL')
  const { identity } = found
  // Two first sign-ins of one person at once both create the person; the second one finds them in its next attempt.
  const joined = await join(app, org_id, identity).catch((error) => {
    if (isUniqueViolation(error, 'people_sso') || isUniqueViolation(error, 'people_email')) return join(app, org_id, identity)
    throw error
  })
  return 'failure' in joined ? fail(app, org_id, joined.failure, joined.id) : undefined
}

const join = (app: AppInRequest, org_id: string, identity: Identity) =>
  inTransaction(app, async (app) => {
    const person = await joinBySso(app, org_id, identity, scopeOfGroups(app.config.OIDC_ROLES, identity.groups))
    if ('failure' in person) return person
    const { caller } = await openSession(app, await loadPersonHolder(app, person.id), 'beginSsoSession')
    if (person.change) await recordChange(app, auditRow(app, caller, entryOf(app, person.change, person.id, 200)))
    return person
  })

function openFlow(app: App, org_id: string, cookie = ''): Flow | undefined {
  try {
    const flow = open<SealedFlow>(orgSealingKey(app, org_id), FLOW, Buffer.from(cookie, 'base64url'))
    return flow.expires_at > app.wall() ? flow : undefined
  } catch {
    return undefined
  }
}

/** Audits a failed sign-in. The row names the person if they are known. */
async function fail(app: AppInRequest, org_id: string, failure: SsoFailure, person_id?: string) {
  await inTransaction(app, (app) =>
    recordChange(app, auditRow(app, { kind: 'visitor', console: {}, org_id }, entryOf(app, 'beginSsoSession', person_id, 401))),
  )
  return failure
}

const entryOf = (app: AppInRequest, action: string, person_id: string | undefined, status: number) => ({
  action,
  subject: person_id && `person_id:${person_id}`,
  status,
  request_id: app.request.request_id,
})

/** People who sign in with single sign-on belong to one organization. */
async function orgOf(app: App) {
  const org_id = app.config.OIDC_ORG_ID ?? (await findFirstOrgAndTeam(app))?.org.id
  if (!org_id) throw setupProblem('The database has no organization yet')
  return org_id
}
