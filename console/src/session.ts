import { api, chosenTeam, sessionEnded } from './api.ts'
import { forgetAll } from './query.ts'
import { go, isOfNoTeam, place, teamInPath } from './router.tsx'
import { store } from './store.ts'

export type Session = Awaited<ReturnType<typeof api.getSession>>
type Credential = Parameters<typeof api.beginSession>[0]['body']

/** undefined: not asked yet; null: nobody is signed in. */
export const session = store<Session | null | undefined>(undefined)

const LAST_TEAM = 'assay.team'

/** The cookie cannot be seen from here; whether one was set can be remembered. */
const SIGNED_IN = 'assay.signed-in'

export async function openSession() {
  if (!localStorage.getItem(SIGNED_IN)) return session.set(null)
  session.set(await api.getSession().then(entered, () => null))
}

export async function signIn(credential: Credential) {
  enter(await api.beginSession({ body: credential }))
}

export function enter(found: Session) {
  localStorage.setItem(SIGNED_IN, 'yes')
  session.set(entered(found))
}

export async function signOut() {
  await api.endSession().catch(() => {})
  leave()
  go('/sign-in', { replace: true })
}

/** Nothing that was read stays in the page once the session is over. */
function leave() {
  forgetAll()
  localStorage.removeItem(SIGNED_IN)
  session.set(null)
}

sessionEnded.watch(() => session.get() && leave())

function entered(found: Session): Session {
  const known = (id: string | null | undefined) => (id && found.teams.some(({ team_id }) => team_id === id) ? id : undefined)
  chosenTeam.set(known(teamInPath()) ?? known(found.team_id) ?? known(localStorage.getItem(LAST_TEAM)) ?? found.teams[0]?.team_id ?? null)
  return found
}

export function chooseTeam(team_id: string) {
  if (team_id === chosenTeam.get()) return
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
