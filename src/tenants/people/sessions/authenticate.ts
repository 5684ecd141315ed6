import { isId } from '../../../contract/common.ts'
import type { Row } from '../../../contract/endpoint.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller, ConsoleUser, ManagementCaller, SessionCaller, TeamCaller } from '../../../platform/callers.ts'
import { invalid, Problem, problem } from '../../../platform/problem.ts'
import { loadManagementKeyCaller, loadTeamKeyCaller } from '../../keys/authenticate.ts'
import { hashSecret } from '../../keys/rules.ts'
import { requireTeam } from '../../teams/actions.ts'
import { loadSessionPerson } from '../actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

type Headers = Parameters<typeof rules.sessionSecretIn>[1]
type Session = NonNullable<Awaited<ReturnType<typeof store.findSession>>>

/** The key or person that signed in. `team` is set for a team API key. */
export type Holder = Pick<SessionCaller, 'org_id' | 'plan' | 'team_ids'> &
  Pick<ConsoleUser, 'kind' | 'actor_id' | 'role'> & { team?: TeamCaller }

/** The caller behind a console session: the session itself, or a team or management caller, depending on the endpoint. */
export async function authenticateSession(app: App, row: Row, secret: string, headers: Headers): Promise<Caller> {
  const session = await requireLiveSession(app, secret)
  const holder = await holderOf(app, session)
  if (rules.shouldRecordUse(session, app.wall()) && !rules.isBackground(headers)) await store.recordUse(app.db, session.id, app.wall())
  const console = consoleOf(session, holder, headers)
  if (row.auth === 'session') return sessionCallerFrom(holder, console)
  return row.auth === 'team' ? teamCallerFrom(app, holder, console, headers) : managementCallerFrom(holder, console)
}

async function requireLiveSession(app: App, secret: string) {
  const session = await store.findSession(app.db, hashSecret(secret))
  if (!session || rules.isExpired(app.config, session, app.wall())) throw rules.sessionEnded()
  return session
}

/** The next request of a session fails once its key is revoked or its person is removed. */
async function holderOf(app: App, { management_key_id, team_id, team_api_key_id, person_id }: Session): Promise<Holder> {
  try {
    if (management_key_id) return holderFromManagementKey(await loadManagementKeyCaller(app, management_key_id))
    if (team_id && team_api_key_id) return holderFromTeamKey(await loadTeamKeyCaller(app, { team_id, key_id: team_api_key_id }))
  } catch (error) {
    throw error instanceof Problem ? rules.sessionEnded() : error
  }
  return loadPersonHolder(app, person_id as string)
}

export async function loadPersonHolder(app: App, id: string): Promise<Holder> {
  const person = await loadSessionPerson(app, id)
  if (!person) throw rules.sessionEnded()
  const { org_id, plan, role, team_ids } = person
  return { kind: 'person', actor_id: id, org_id, plan, role, team_ids }
}

export const holderFromManagementKey = ({ key_id, org_id, plan, team_ids }: ManagementCaller & { key_id: string }): Holder => ({
  kind: 'management',
  actor_id: key_id,
  org_id,
  plan,
  team_ids,
  role: team_ids ? 'team_admin' : 'org_admin',
})

export const holderFromTeamKey = (team: TeamCaller): Holder => ({
  kind: 'team',
  actor_id: team.key_id,
  org_id: team.org_id,
  plan: team.plan,
  team_ids: [team.team_id],
  role: team.read_only ? 'read_only_key' : 'team_key',
  team,
})

const consoleOf = ({ id }: Session, { kind, actor_id, role }: Holder, headers: Headers): ConsoleUser => ({
  kind,
  actor_id,
  session_id: id,
  role,
  reason: rules.reasonIn(headers),
  ...(rules.isBackground(headers) ? { background: true } : {}),
})

export const sessionCallerFrom = ({ org_id, plan, team_ids, team }: Holder, console: ConsoleUser): SessionCaller => ({
  kind: 'session',
  org_id,
  plan,
  team_ids,
  team_id: team?.team_id,
  console,
})

function managementCallerFrom({ kind, actor_id, org_id, plan, team_ids }: Holder, console: ConsoleUser): ManagementCaller {
  if (kind === 'team')
    throw problem(
      'SESSION_NOT_ALLOWED',
      'You signed in with a team API key, which gives access only to the data of its team. Sign in with a management key or your email.',
    )
  return { kind: 'management', org_id, plan, team_ids, key_id: kind === 'management' ? actor_id : null, console }
}

/** Team access is checked on every request, because bindings can change during a session. */
async function teamCallerFrom(app: App, holder: Holder, console: ConsoleUser, headers: Headers): Promise<TeamCaller> {
  const team_id = rules.chosenTeam(headers) ?? holder.team?.team_id
  if (!team_id)
    throw problem('TEAM_REQUIRED', 'Send the team_id in the x-assay-team header. GET /console/session lists the teams you have access to.')
  if (!isId(team_id)) throw invalid(['header', 'x-assay-team'], 'Must be a UUID.')
  const { id, betas, clock_offset_ms } = await requireTeam(app, holder, team_id)
  if (holder.team) return { ...holder.team, console }
  const { org_id, plan, actor_id } = holder
  return { kind: 'team', org_id, team_id: id, key_id: actor_id, read_only: false, plan, betas, clock_offset_ms, console }
}
