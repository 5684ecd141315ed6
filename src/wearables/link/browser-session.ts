import { isSource, type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { type App, onTeamClock } from '../../platform/app.ts'
import type { LinkCaller } from '../../platform/callers.ts'
import { Problem } from '../../platform/problem.ts'
import { hashSecret } from '../../tenants/keys/rules.ts'
import { callerOf, withAudit } from './connect.ts'
import { connectAsDemo } from './demo.ts'
import * as pages from './page.ts'
import * as rules from './rules.ts'
import { completeMfa, connectByEmail, connectByPassword } from './sign-in.ts'
import { offersOf } from './sources.ts'
import type { LiveToken } from './store.ts'
import { findToken } from './tokens.ts'

/** A page, or a URL to redirect to. */
export type PageResponse = { status: number; html: string } | { to: string }

const shown = (html: string, status = 200): PageResponse => ({ status, html })

export type BrowserSession = { token: LiveToken; caller: LinkCaller; frame: pages.Frame }

/** Calls `show` for a valid token. Otherwise shows why the link does not work. */
export async function withBrowserSession(
  app: App,
  secret: string | undefined,
  show: (guest: BrowserSession) => Promise<PageResponse>,
): Promise<PageResponse> {
  const token = secret ? await findToken(app, secret) : undefined
  const spent = rules.tokenFailure(token, app.wall())
  if (!token || !secret || spent) return shown(pages.endPage(undefined, rules.linkFailed(spent ?? 'invalid_token')), 401)
  const frame = frameOf(token, secret) as pages.Frame
  return show({ token, caller: callerOf(token), frame })
}

/** The frame contains the secret, so it exists only for a browser that sent the secret of this token. */
export const frameOf = (token: LiveToken, secret: string | undefined): pages.Frame | undefined =>
  secret && hashSecret(secret).equals(token.hash)
    ? { token: secret, team: token.team_name, closes: Boolean(token.redirect_url && token.on_close), chooses: !token.provider }
    : undefined

export async function showSources(app: App, { token, caller, frame }: BrowserSession, search?: string): Promise<PageResponse> {
  if (token.provider) return showSource(app, { token, caller, frame }, token.provider)
  return shown(pages.pickPage(frame, await offersOf(app, caller), search))
}

export async function showSource(app: App, { caller, frame }: BrowserSession, slug: string): Promise<PageResponse> {
  const offer = await offerOf(app, caller, slug)
  return offer ? shown(pages.sourcePage(frame, offer)) : shown(pages.endPage(frame, notOffered), 404)
}

const offerOf = async (app: App, caller: LinkCaller, slug: string) => (await offersOf(app, caller)).find((offer) => offer.slug === slug)

const notOffered = {
  ...rules.linkFailed('provider_api_error'),
  error: 'This source cannot be connected with this link. Choose another one.',
} as const

type Fields = Record<string, string>

/** Handles a submitted form. */
export async function submit(
  app: App,
  guest: BrowserSession,
  { way, slug }: { way: string; slug: string },
  fields: Fields,
): Promise<PageResponse> {
  const { caller, frame, token } = guest
  const { username, password, email, mfa_code, hint = '' } = fields
  const inside = withAudit(onTeamClock(app, token), token, 'connectOnPage')
  if (way === 'demo') return submitDemo(inside, guest, slug)
  if (!isSource(slug) || sources[slug].auth_type !== (way === 'code' ? 'password' : way)) return showSource(app, guest, slug)
  const offer = { slug, demo: false }
  const ask = async () => {
    if (mfa_code) return completeMfa(inside, caller, slug, mfa_code)
    if (email) return connectByEmail(inside, caller, slug, { email })
    return username && password ? connectByPassword(inside, caller, slug, { username, password }) : undefined
  }
  const answer = await ask()
  if (!answer) return shown(pages.sourcePage(frame, offer, 'Fill in every field.'), 422)
  if (answer.provider_mfa) return shown(pages.codePage(frame, slug, answer.provider_mfa.hint))
  if (answer.state === 'success') return endResponse(guest, rules.linkSucceeded, { slug, fromForm: true })
  const failure = answer.error ?? undefined
  if (answer.redirect_url) return endResponse(guest, rules.linkFailed(answer.error_type as rules.LinkError), { slug, fromForm: true })
  return shown(way === 'code' ? pages.codePage(frame, slug, hint, failure) : pages.sourcePage(frame, offer, failure), 422)
}

/** Offers demo data only for sources that cannot be connected, so that nobody mistakes it for their own. */
async function submitDemo(app: App, guest: BrowserSession, slug: string): Promise<PageResponse> {
  const offer = await offerOf(app, guest.caller, slug)
  if (!offer?.demo) return showSource(app, guest, slug)
  return endResponse(guest, await connectAsDemo(app, guest.token, offer.slug), { ...offer, fromForm: true })
}

/** Ends the flow. After a form the page redirects itself, because form-action blocks redirects to other sites. */
export function endResponse(
  { token, frame }: { token: LiveToken; frame: pages.Frame | undefined },
  outcome: rules.Outcome,
  { slug, demo, fromForm }: { slug: SourceSlug; demo?: boolean; fromForm?: boolean },
): PageResponse {
  const back = token.redirect_url ? rules.returnUrl(token.redirect_url, outcome) : undefined
  const leaves = back !== undefined && (outcome.state === 'success' || token.on_error)
  if (leaves && !fromForm) return { to: back }
  return shown(pages.endPage(frame, outcome, { slug, demo, back, leaves }), outcome.state === 'success' ? 200 : 422)
}

/** Handles a canceled flow. */
export function close({ token, frame }: BrowserSession): PageResponse {
  const outcome = rules.linkFailed('user_cancelled')
  if (token.redirect_url && token.on_close) return { to: rules.returnUrl(token.redirect_url, outcome) }
  return shown(pages.endPage(frame, { ...outcome, error: 'Nothing was connected. You can close this window.' } as rules.Outcome))
}

/** Texts for end users instead of the error messages for developers. */
const plainly: Record<string, string> = {
  NO_SIGN_IN_WAITING: 'Start the sign-in again.',
  CONNECTION_IS_NO_DEMO: 'This source is already connected with your own data. Choose another one.',
  TOO_MANY_LINKS: 'Too many attempts. Wait ten minutes and try again.',
}

/** Shows a problem as a page instead of JSON. */
export function refusalResponse(error: unknown): PageResponse {
  if (!(error instanceof Problem)) throw error
  const { error_type } = error.detail as { error_type: string }
  return shown(pages.endPage(undefined, { ...notOffered, error: plainly[error_type] ?? notOffered.error }), 400)
}
