import { isSource, type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { type App, onTeamClock } from '../../platform/app.ts'
import type { LinkCaller } from '../../platform/callers.ts'
import { Problem } from '../../platform/problem.ts'
import { hashSecret } from '../../tenants/keys/rules.ts'
import { withAudit } from './connect.ts'
import { connectAsDemo } from './demo.ts'
import * as pages from './page.ts'
import * as rules from './rules.ts'
import { completeMfa, connectByEmail, connectByPassword } from './sign-in.ts'
import { offersOf } from './sources.ts'
import type { LiveToken } from './store.ts'
import { callerOf, findToken } from './tokens.ts'

/** A page, or a URL to redirect to. */
export type PageResponse = { status: number; html: string } | { to: string }

const htmlResponse = (html: string, status = 200): PageResponse => ({ status, html })

export type BrowserSession = { token: LiveToken; caller: LinkCaller; frame: pages.Frame }

/** Calls `render` if the token is valid. Otherwise returns a page that says why the link does not work. */
export async function withBrowserSession(
  app: App,
  secret: string | undefined,
  render: (session: BrowserSession) => Promise<PageResponse>,
): Promise<PageResponse> {
  const token = secret ? await findToken(app, secret) : undefined
  const tokenError = rules.tokenFailure(token, app.wall())
  if (!token || !secret || tokenError) return htmlResponse(pages.endPage(undefined, rules.linkFailed(tokenError ?? 'invalid_token')), 401)
  const frame = frameOf(token, secret) as pages.Frame
  return render({ token, caller: callerOf(token), frame })
}

/** The frame contains the secret, so it exists only for a browser that sent the secret of this token. */
export const frameOf = (token: LiveToken, secret: string | undefined): pages.Frame | undefined =>
  secret && hashSecret(secret).equals(token.hash)
    ? { token: secret, team: token.team_name, canClose: Boolean(token.redirect_url && token.on_close), canChoose: !token.provider }
    : undefined

export async function showSources(app: App, { token, caller, frame }: BrowserSession, search?: string): Promise<PageResponse> {
  if (token.provider) return showSource(app, { token, caller, frame }, token.provider)
  return htmlResponse(pages.sourceListPage(frame, await offersOf(app, caller), search))
}

export async function showSource(app: App, { caller, frame }: BrowserSession, slug: string): Promise<PageResponse> {
  const offer = await offerOf(app, caller, slug)
  return offer ? htmlResponse(pages.sourcePage(frame, offer)) : htmlResponse(pages.endPage(frame, notOffered), 404)
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
  session: BrowserSession,
  { method, slug }: { method: string; slug: string },
  fields: Fields,
): Promise<PageResponse> {
  const { caller, frame, token } = session
  const { username, password, email, mfa_code, hint = '' } = fields
  const auditedApp = withAudit(onTeamClock(app, token), token, 'connectOnPage')
  if (method === 'demo') return submitDemo(auditedApp, session, slug)
  if (!isSource(slug) || sources[slug].auth_type !== (method === 'code' ? 'password' : method)) return showSource(app, session, slug)
  const offer = { slug, demo: false }
  const signIn = async () => {
    if (mfa_code) return completeMfa(auditedApp, caller, slug, mfa_code)
    if (email) return connectByEmail(auditedApp, caller, slug, { email })
    return username && password ? connectByPassword(auditedApp, caller, slug, { username, password }) : undefined
  }
  const result = await signIn()
  if (!result) return htmlResponse(pages.sourcePage(frame, offer, 'Fill in every field.'), 422)
  if (result.provider_mfa) return htmlResponse(pages.codePage(frame, slug, result.provider_mfa.hint))
  if (result.state === 'success') return endResponse(session, rules.linkSucceeded, { slug, fromForm: true })
  const failure = result.error ?? undefined
  if (result.redirect_url) return endResponse(session, rules.linkFailed(result.error_type as rules.LinkError), { slug, fromForm: true })
  return htmlResponse(method === 'code' ? pages.codePage(frame, slug, hint, failure) : pages.sourcePage(frame, offer, failure), 422)
}

/** Offers demo data only for sources that cannot be connected, so that nobody mistakes it for their own. */
async function submitDemo(app: App, session: BrowserSession, slug: string): Promise<PageResponse> {
  const offer = await offerOf(app, session.caller, slug)
  if (!offer?.demo) return showSource(app, session, slug)
  return endResponse(session, await connectAsDemo(app, session.token, offer.slug), { ...offer, fromForm: true })
}

/** Ends the flow. After a form the page redirects itself, because form-action blocks redirects to other sites. */
export function endResponse(
  { token, frame }: { token: LiveToken; frame: pages.Frame | undefined },
  outcome: rules.Outcome,
  { slug, demo, fromForm }: { slug: SourceSlug; demo?: boolean; fromForm?: boolean },
): PageResponse {
  const returnTo = token.redirect_url ? rules.returnUrl(token.redirect_url, outcome) : undefined
  const redirects = returnTo !== undefined && (outcome.state === 'success' || token.on_error)
  if (redirects && !fromForm) return { to: returnTo }
  return htmlResponse(pages.endPage(frame, outcome, { slug, demo, returnTo, redirects }), outcome.state === 'success' ? 200 : 422)
}

/** Handles a canceled flow. */
export function close({ token, frame }: BrowserSession): PageResponse {
  const outcome = rules.linkFailed('user_cancelled')
  if (token.redirect_url && token.on_close) return { to: rules.returnUrl(token.redirect_url, outcome) }
  return htmlResponse(pages.endPage(frame, { ...outcome, error: 'Nothing was connected. You can close this window.' } as rules.Outcome))
}

/** Texts for end users instead of the error messages for developers. */
const endUserTexts: Record<string, string> = {
  NO_SIGN_IN_WAITING: 'Start the sign-in again.',
  CONNECTION_IS_NO_DEMO: 'This source is already connected with your own data. Choose another one.',
  SOURCE_RETIRED: 'This source has ended its service. Choose another one.',
  TOO_MANY_LINKS: 'Too many attempts. Wait ten minutes and try again.',
}

/** Shows a problem as a page instead of JSON. */
export function problemResponse(error: unknown): PageResponse {
  if (!(error instanceof Problem)) throw error
  const { error_type } = error.detail as { error_type: string }
  return htmlResponse(pages.endPage(undefined, { ...notOffered, error: endUserTexts[error_type] ?? notOffered.error }), 400)
}
