import { randomUUID } from 'node:crypto'
import type { SignIn } from '../../../contract/tenants/sessions.ts'
import { type AppInRequest, inTransaction } from '../../../platform/app.ts'
import type { ConsoleUser } from '../../../platform/callers.ts'
import { invalid, Problem } from '../../../platform/problem.ts'
import { HOUR, later } from '../../../platform/time.ts'
import { auditRow, recordChange } from '../../audit/actions.ts'
import { authenticateManagementKey, authenticateTeamKey } from '../../keys/authenticate.ts'
import { hashSecret, newSecret } from '../../keys/rules.ts'
import { findKnownDevice, newDeviceToken } from '../devices.ts'
import { normalizeEmail } from '../rules.ts'
import { checkPersonCredentials, signInRejected } from '../sign-in.ts'
import { type Holder, holderFromManagementKey, holderFromTeamKey, loadPersonHolder, sessionCallerFrom } from './authenticate.ts'
import { networkOf, SESSION_PREFIX } from './rules.ts'
import { keyLimits, limited, personLimits } from './sign-in-limiter.ts'
import * as store from './store.ts'

/** Counts and audits every failed attempt. */
export async function signIn(app: AppInRequest, body: SignIn): Promise<Holder> {
  const { management_key, team_api_key, email } = body
  if ([management_key, team_api_key, email].filter(Boolean).length !== 1)
    throw invalid(['body'], 'Send exactly one of management_key, team_api_key, or email with password and code.')
  const network = networkOf(app.request.address)
  // People and keys are counted separately, so password guessing does not block sign-in with a key.
  if (!email) return limited(app, keyLimits(network), () => signInWithKey(app, body))
  const device = await findKnownDevice(app, app.request.device, email)
  return limited(app, personLimits(network, normalizeEmail(email), device), () => signInAsPerson(app, { ...body, email }))
}

async function signInWithKey(app: AppInRequest, { management_key, team_api_key }: SignIn): Promise<Holder> {
  try {
    if (management_key) return holderFromManagementKey(await authenticateManagementKey(app, management_key.trim()))
    return holderFromTeamKey(await authenticateTeamKey(app, team_api_key?.trim() ?? ''))
  } catch (error) {
    if (error instanceof Problem) await recordFailure(app)
    throw error
  }
}

async function signInAsPerson(app: AppInRequest, body: SignIn & { email: string }): Promise<Holder> {
  const result = await checkPersonCredentials(app, body)
  if ('rejected' in result) {
    await recordFailure(app, result.rejected)
    throw signInRejected()
  }
  app.request.setDevice(newDeviceToken(app, result.person))
  return loadPersonHolder(app, result.person.id)
}

/** Audits a failed sign-in. The row names the account if it exists, never the typed email. */
const recordFailure = (app: AppInRequest, person?: { id: string; org_id: string }) =>
  inTransaction(app, (app) => {
    const visitor = { kind: 'visitor', console: {}, ...(person && { org_id: person.org_id }) } as const
    const subject = person && `person_id:${person.id}`
    return recordChange(app, auditRow(app, visitor, { action: 'beginSession', subject, status: 401, request_id: app.request.request_id }))
  })

const columns = { management: 'management_key_id', team: 'team_api_key_id', person: 'person_id' } as const

/** Opens a session with a new secret and ends the browser's previous session. */
export const openSession = (app: AppInRequest, holder: Holder, action = 'beginSession') =>
  inTransaction(app, async (app) => {
    if (app.request.session) await store.deleteByHash(app.db, hashSecret(app.request.session))
    const secret = newSecret(SESSION_PREFIX)
    const at = app.wall()
    const { kind, actor_id, role, org_id, team } = holder
    const session = await store.insertSession(app.db, {
      id: randomUUID(),
      hash: hashSecret(secret),
      org_id,
      team_id: team?.team_id ?? null,
      [columns[kind]]: actor_id,
      created_at: at,
      seen_at: at,
      ends_at: later(at, app.config.CONSOLE_SESSION_HOURS * HOUR),
    })
    const console: ConsoleUser = { kind, actor_id, role, session_id: session.id }
    const caller = sessionCallerFrom(holder, console)
    const entry = { action, subject: `session_id:${session.id}`, status: 200, request_id: app.request.request_id }
    await recordChange(app, auditRow(app, caller, entry))
    app.request.setSession(secret)
    return { session, caller }
  })
