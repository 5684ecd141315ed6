import { api, chosenTeam, type Failure, sessionEnded } from './api.ts'
import { store } from './observable.ts'
import { forgetAll } from './query.ts'
import { go, isOfNoTeam, place, teamInPath } from './router.tsx'
import { forgetSearches } from './searches.ts'
import { mayLeave } from './unsaved.ts'

export type Session = Awaited<ReturnType<typeof api.getSession>>
type Credential = Parameters<typeof api.beginSession>[0]['body']

/** undefined: not asked yet; null: nobody is signed in. */
export const session = store<Session | null | undefined>(undefined)

/** Why it is not known who is signed in: the service is away, or fails. */
export const unknown = store<Failure | undefined>(undefined)

const LAST_TEAM = 'assay.team'
const LAST_KIND = 'assay.kind'

/** The cookie cannot be seen from here; whether one was set can be remembered. */
const SIGNED_IN = 'assay.signed-in'

export async function openSession() {
  if (!localStorage.getItem(SIGNED_IN)) return session.set(null)
  await api.getSession().then(
    (found) => {
      unknown.set(undefined)
      session.set(entered(found))
    },
    // Whoever is signed in stays so while the service is away.
    (error: Failure) => (error.status === 401 ? leave() : unknown.set(error)),
  )
}

export async function signIn(credential: Credential) {
  enter(await api.beginSession({ body: credential }))
}

export function enter(found: Session) {
  localStorage.setItem(SIGNED_IN, 'yes')
  localStorage.setItem(LAST_KIND, found.kind)
  session.set(entered(found))
}

/** What was last signed in with in this browser. */
export const lastKind = () => localStorage.getItem(LAST_KIND)

/** A session that could not be ended goes on, and whoever wants to leave must know. */
export async function signOut() {
  if (!mayLeave()) return
  await api.endSession().catch((error: Failure) => {
    if (error.status !== 401) throw error
  })
  leave()
  go('/sign-in', { replace: true })
}

/** Nothing that was read stays in the page once the session is over. */
function leave() {
  forgetAll()
  forgetSearches()
  localStorage.removeItem(SIGNED_IN)
  session.set(null)
}

sessionEnded.watch(() => session.get() && leave())

// Back and forward may lead to an address of another team.
place.watch(() => {
  const team = teamInPath()
  if (!team || team === chosenTeam.get() || !session.get()?.teams.some(({ team_id }) => team_id === team)) return
  forgetAll()
  chosenTeam.set(team)
})

function entered(found: Session): Session {
  const known = (id: string | null | undefined) => (id && found.teams.some(({ team_id }) => team_id === id) ? id : undefined)
  chosenTeam.set(known(teamInPath()) ?? known(found.team_id) ?? known(localStorage.getItem(LAST_TEAM)) ?? found.teams[0]?.team_id ?? null)
  return found
}

export function chooseTeam(team_id: string) {
  if (team_id === chosenTeam.get() || !mayLeave()) return
  localStorage.setItem(LAST_TEAM, team_id)
  chosenTeam.set(team_id)
  forgetAll()
  // A detail of one team is not there in another; its list is.
  const [, first = ''] = place
    .get()
    .path.replace(/^\/t\/[^/]+/, '')
    .split('/')
  go(isOfNoTeam(`/${first}`) ? '/' : `/${first}`)
}

/** What the role of the session allows. */
export const may = (capability: string) => session.get()?.capabilities.includes(capability) ?? false

/** Where a team's management routes are. */
export function teamPath() {
  const who = session.get()
  // Pages that ask are only reached with a session and a team; the service refuses anything else.
  return { org_id: who?.org.id ?? '', team_id: chosenTeam.get() ?? '', env: who?.environment as 'sandbox' | 'production' }
}

export function deploymentPath() {
  const { org_id, env } = teamPath()
  return { org_id, env, region: session.get()?.region as 'us' | 'eu' }
}
