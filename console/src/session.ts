import type { Capability } from '../../src/contract/tenants/sessions.ts'
import { type ApiError, api, selectedTeam, sessionEndings } from './api.ts'
import { observable } from './observable.ts'
import { clearCache } from './query.ts'
import { currentLocation, isOutsideTeam, navigate, teamInPath } from './router.tsx'
import { clearSearches } from './searches.ts'
import { confirmLeave } from './unsaved.ts'

export type Session = Awaited<ReturnType<typeof api.getSession>>
type Credential = Parameters<typeof api.beginSession>[0]['body']

/** `undefined` while loading, `null` when signed out. */
export const session = observable<Session | null | undefined>(undefined)

/** Set when the session could not be loaded. */
export const sessionError = observable<ApiError | undefined>(undefined)

const LAST_TEAM_KEY = 'assay.team'
const LAST_KIND_KEY = 'assay.kind'

/** Scripts cannot read the session cookie, so this key remembers that one was set. */
const SIGNED_IN_KEY = 'assay.signed-in'

export async function loadSession() {
  // The provider of single sign-on has sent the browser back.
  const isReturning = new URLSearchParams(location.search).get('sso') === 'done'
  if (isReturning) navigate('/', { replace: true })
  if (!localStorage.getItem(SIGNED_IN_KEY) && !isReturning) return session.set(null)
  await api.getSession().then(
    (loaded) => {
      sessionError.set(undefined)
      startSession(loaded)
    },
    // An unreachable service does not sign the user out.
    (error: ApiError) => (error.status === 401 ? clearSession() : sessionError.set(error)),
  )
}

export async function signIn(credential: Credential) {
  startSession(await api.beginSession({ body: credential }))
}

export function startSession(loaded: Session) {
  localStorage.setItem(SIGNED_IN_KEY, 'yes')
  localStorage.setItem(LAST_KIND_KEY, loaded.kind)
  session.set(selectInitialTeam(loaded))
}

export const lastSignInKind = () => localStorage.getItem(LAST_KIND_KEY)

/** Throws when the server could not end the session, because the user is then still signed in. */
export async function signOut() {
  if (!confirmLeave()) return
  await api.endSession().catch((error: ApiError) => {
    if (error.status !== 401) throw error
  })
  clearSession()
  navigate('/sign-in', { replace: true })
}

/** Drops all loaded data from memory. */
function clearSession() {
  clearCache()
  clearSearches()
  localStorage.removeItem(SIGNED_IN_KEY)
  session.set(null)
}

sessionEndings.watch(() => session.get() && clearSession())

// Browser history may lead to a URL of another team.
currentLocation.watch(() => {
  const team = teamInPath()
  if (!team || team === selectedTeam.get() || !session.get()?.teams.some(({ team_id }) => team_id === team)) return
  clearCache()
  selectedTeam.set(team)
})

function selectInitialTeam(loaded: Session): Session {
  const reachableTeam = (id: string | null | undefined) => (id && loaded.teams.some(({ team_id }) => team_id === id) ? id : undefined)
  selectedTeam.set(
    reachableTeam(teamInPath()) ??
      reachableTeam(loaded.team_id) ??
      reachableTeam(localStorage.getItem(LAST_TEAM_KEY)) ??
      loaded.teams[0]?.team_id ??
      null,
  )
  return loaded
}

export function selectTeam(team_id: string) {
  if (team_id === selectedTeam.get() || !confirmLeave()) return
  localStorage.setItem(LAST_TEAM_KEY, team_id)
  selectedTeam.set(team_id)
  clearCache()
  // A record of one team does not exist in another, so this opens the list.
  const [, first = ''] = currentLocation
    .get()
    .path.replace(/^\/t\/[^/]+/, '')
    .split('/')
  navigate(isOutsideTeam(`/${first}`) ? '/' : `/${first}`)
}

export const can = (capability: Capability) => session.get()?.capabilities.includes(capability) ?? false

/** Path parameters of the team's management endpoints. */
export function teamParams() {
  const current = session.get()
  // Pages load only with a session and a team; the server rejects anything else.
  return { org_id: current?.org.id ?? '', team_id: selectedTeam.get() ?? '', env: current?.environment as 'sandbox' | 'production' }
}

export function deploymentParams() {
  const { org_id, env } = teamParams()
  return { org_id, env, region: session.get()?.region as 'us' | 'eu' }
}
