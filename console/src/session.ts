import { type ApiError, api, selectedTeam, sessionEndings } from './api.ts'
import { observable } from './observable.ts'
import { clearCache } from './query.ts'
import { currentLocation, isOutsideTeam, navigate, teamInPath } from './router.tsx'
import { clearSearches } from './searches.ts'
import { confirmLeave } from './unsaved.ts'

export type Session = Awaited<ReturnType<typeof api.getSession>>
type Credential = Parameters<typeof api.beginSession>[0]['body']

/** undefined: not asked yet; null: nobody is signed in. */
export const session = observable<Session | null | undefined>(undefined)

/** Why it is not known who is signed in: the service is away, or fails. */
export const sessionError = observable<ApiError | undefined>(undefined)

const LAST_TEAM_KEY = 'assay.team'
const LAST_KIND_KEY = 'assay.kind'

/** The cookie cannot be seen from here; whether one was set can be remembered. */
const SIGNED_IN_KEY = 'assay.signed-in'

export async function loadSession() {
  if (!localStorage.getItem(SIGNED_IN_KEY)) return session.set(null)
  await api.getSession().then(
    (found) => {
      sessionError.set(undefined)
      session.set(selectInitialTeam(found))
    },
    // Whoever is signed in stays so while the service is away.
    (error: ApiError) => (error.status === 401 ? clearSession() : sessionError.set(error)),
  )
}

export async function signIn(credential: Credential) {
  startSession(await api.beginSession({ body: credential }))
}

export function startSession(found: Session) {
  localStorage.setItem(SIGNED_IN_KEY, 'yes')
  localStorage.setItem(LAST_KIND_KEY, found.kind)
  session.set(selectInitialTeam(found))
}

/** What was last signed in with in this browser. */
export const lastSignInKind = () => localStorage.getItem(LAST_KIND_KEY)

/** A session that could not be ended goes on, and whoever wants to leave must know. */
export async function signOut() {
  if (!confirmLeave()) return
  await api.endSession().catch((error: ApiError) => {
    if (error.status !== 401) throw error
  })
  clearSession()
  navigate('/sign-in', { replace: true })
}

/** Nothing that was read stays in the page once the session is over. */
function clearSession() {
  clearCache()
  clearSearches()
  localStorage.removeItem(SIGNED_IN_KEY)
  session.set(null)
}

sessionEndings.watch(() => session.get() && clearSession())

// Back and forward may lead to an address of another team.
currentLocation.watch(() => {
  const team = teamInPath()
  if (!team || team === selectedTeam.get() || !session.get()?.teams.some(({ team_id }) => team_id === team)) return
  clearCache()
  selectedTeam.set(team)
})

function selectInitialTeam(found: Session): Session {
  const reachableTeam = (id: string | null | undefined) => (id && found.teams.some(({ team_id }) => team_id === id) ? id : undefined)
  selectedTeam.set(
    reachableTeam(teamInPath()) ??
      reachableTeam(found.team_id) ??
      reachableTeam(localStorage.getItem(LAST_TEAM_KEY)) ??
      found.teams[0]?.team_id ??
      null,
  )
  return found
}

export function selectTeam(team_id: string) {
  if (team_id === selectedTeam.get() || !confirmLeave()) return
  localStorage.setItem(LAST_TEAM_KEY, team_id)
  selectedTeam.set(team_id)
  clearCache()
  // A detail of one team is not there in another; its list is.
  const [, first = ''] = currentLocation
    .get()
    .path.replace(/^\/t\/[^/]+/, '')
    .split('/')
  navigate(isOutsideTeam(`/${first}`) ? '/' : `/${first}`)
}

/** What the role of the session allows. */
export const can = (capability: string) => session.get()?.capabilities.includes(capability) ?? false

/** Where a team's management routes are. */
export function teamParams() {
  const current = session.get()
  // Pages that ask are only reached with a session and a team; the service refuses anything else.
  return { org_id: current?.org.id ?? '', team_id: selectedTeam.get() ?? '', env: current?.environment as 'sandbox' | 'production' }
}

export function deploymentParams() {
  const { org_id, env } = teamParams()
  return { org_id, env, region: session.get()?.region as 'us' | 'eu' }
}
