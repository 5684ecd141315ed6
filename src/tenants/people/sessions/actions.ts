import type { SignIn } from '../../../contract/tenants/sessions.ts'
import { type App, type AppInRequest, inTransaction } from '../../../platform/app.ts'
import type { SessionCaller } from '../../../platform/callers.ts'
import { deploymentOf } from '../../../platform/config.ts'
import { later, MINUTE } from '../../../platform/time.ts'
import { listConsoleTeams } from '../../teams/actions.ts'
import { getOrg } from '../../teams/orgs.ts'
import { findPersonName } from '../actions.ts'
import * as rules from './rules.ts'
import { capabilitiesIn } from './rules-roles.ts'
import { openSession, signIn } from './sign-in.ts'
import { pruneAttempts } from './sign-in-limiter.ts'
import * as store from './store.ts'

export async function beginSession(app: AppInRequest, body: SignIn) {
  const holder = await signIn(app, body)
  const { session, caller } = await openSession(app, holder)
  return presentSession(app, caller, session)
}

export async function getSession(app: App, caller: SessionCaller) {
  const session = await store.findSessionById(app.db, caller.org_id, caller.console.session_id)
  if (!session) throw rules.sessionEnded()
  return presentSession(app, caller, session)
}

export const endSession = (app: AppInRequest, { org_id, console }: SessionCaller) =>
  inTransaction(app, async (app) => {
    await store.deleteSession(app.db, org_id, console.session_id)
    app.request.setSession(null)
  })

/** Ends the person's other sessions and returns how many there were. */
export const endOtherSessions = async (app: App, { console }: SessionCaller) =>
  (await store.deleteOtherSessions(app.db, console.actor_id, console.session_id)).length

/** The person's live sessions, most recently used first. */
export async function listOwnSessions(app: App, { console }: SessionCaller) {
  const found = await store.listPersonSessions(app.db, console.actor_id)
  return found
    .filter((session) => !rules.isExpired(app.config, session, app.wall()))
    .map((session) => ({ ...session, current: session.id === console.session_id, idle_ends_at: rules.idleEnd(app.config, session) }))
}

type SessionTimes = { seen_at: string; ends_at: string }

export async function presentSession(app: App, caller: SessionCaller, session: SessionTimes) {
  const { kind, actor_id, role, session_id } = caller.console
  return {
    id: session_id,
    kind,
    role,
    person: kind === 'person' ? await findPersonName(app, actor_id) : null,
    org: await getOrg(app, caller),
    teams: await listConsoleTeams(app, caller),
    team_id: caller.team_id ?? null,
    ...deploymentOf(app.config),
    capabilities: capabilitiesIn(role, caller.org_id === app.config.OPERATOR_ORG_ID),
    idle_ends_at: rules.idleEnd(app.config, session),
    ends_at: session.ends_at,
  }
}

/** Deletes expired sessions and old sign-in attempts. */
export async function pruneSessions(app: App) {
  await store.deleteEndedSessions(app.db, app.wall(), later(app.wall(), -app.config.CONSOLE_IDLE_MINUTES * MINUTE))
  await pruneAttempts(app)
}
