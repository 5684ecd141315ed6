import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isSource } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import { publicUrl } from '../../platform/config.ts'
import { problem } from '../../platform/problem.ts'
import * as sessions from '../../wearables/link/browser-session.ts'
import { finishOAuth, newBrowserSecret, startOAuth } from '../../wearables/link/oauth.ts'
import * as pages from '../../wearables/link/page.ts'
import type { Outcome } from '../../wearables/link/rules.ts'

/** Allows no other origin and no framing. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

const FORM_LIMIT = 16 * 1024
const COOKIE = 'assay_link'

type Query = Record<string, string | string[] | undefined>
type Request = FastifyRequest<{ Querystring: Query; Params: { slug: string; method: string }; Body: Record<string, string> | undefined }>

/** Serves the pages where an end user connects a source. */
export async function mountLinkPages(app: App, server: FastifyInstance) {
  await server.register(async (scope) => {
    // These pages accept forms only.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_LIMIT },
      async (_: unknown, text: string) => Object.fromEntries(new URLSearchParams(text)),
    )
    const page =
      (show: (request: Request, reply: FastifyReply) => Promise<sessions.PageResponse>) => async (request: Request, reply: FastifyReply) =>
        send(reply, await show(request, reply).catch(sessions.problemResponse))
    const withSession = (request: Request, show: (session: sessions.BrowserSession) => Promise<sessions.PageResponse>) =>
      sessions.withBrowserSession(app, firstValue(request.query['token']) ?? request.body?.['token'], show)

    scope.get(
      '/link',
      page((request) => withSession(request, (session) => sessions.showSources(app, session, firstValue(request.query['q'])))),
    )
    scope.get(
      '/link/source/:slug',
      page((request) => withSession(request, (session) => sessions.showSource(app, session, request.params.slug))),
    )
    scope.get(
      '/link/close',
      page((request) => withSession(request, async (session) => sessions.close(session))),
    )
    scope.get(
      '/link/oauth/:slug',
      page((request, reply) => withSession(request, (session) => startConnection(app, session, request, reply))),
    )
    scope.post(
      '/link/:method/:slug',
      page((request) => withSession(request, (session) => sessions.submit(app, session, request.params, request.body ?? {}))),
    )
    scope.get(
      '/v2/link/oauth/callback',
      page((request) => finishConnection(app, request)),
    )
    mountFiles(scope)
  })
}

function send(reply: FastifyReply, response: sessions.PageResponse) {
  reply.header('cache-control', 'no-store').header('content-security-policy', POLICY)
  if ('to' in response) return reply.redirect(response.to, 307)
  return reply.code(response.status).type('text/html; charset=utf-8').send(response.html)
}

/** Starts OAuth and sets a cookie with a browser secret, so only the browser that started can finish. */
async function startConnection(
  app: App,
  session: sessions.BrowserSession,
  { params, query, headers }: Request,
  reply: FastifyReply,
): Promise<sessions.PageResponse> {
  const { slug } = params
  if (!isSource(slug)) throw problem('SOURCE_NOT_OFFERED', 'No such source.')
  const browser = cookieIn(headers.cookie)?.browser ?? newBrowserSecret()
  const { oauth_url } = await startOAuth(app, session.caller, slug, { browser, region: firstValue(query['region']) })
  const secure = publicUrl(app.config).startsWith('https:') ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${COOKIE}=${browser}.${session.frame.token}; Path=/v2/link/oauth; HttpOnly; SameSite=Lax; Max-Age=900${secure}`,
  )
  return { to: oauth_url }
}

async function finishConnection(app: App, { query, headers }: Request): Promise<sessions.PageResponse> {
  const callback = { state: firstValue(query['state']), code: firstValue(query['code']), error: firstValue(query['error']) }
  const cookie = cookieIn(headers.cookie)
  const { token, startedFrom, provider, outcome } = await finishOAuth(app, { ...callback, browser: cookie?.browser })
  if (!token || !provider) return { status: isUsedUp(outcome) ? 401 : 400, html: pages.endPage(undefined, outcome) }
  // A connection started through the API returns to the customer's redirect URL, even after a failure.
  if (startedFrom === 'api')
    return sessions.endResponse({ token: { ...token, on_error: true }, frame: undefined }, outcome, { slug: provider })
  return sessions.endResponse({ token, frame: sessions.frameOf(token, cookie?.secret) }, outcome, { slug: provider })
}

const isUsedUp = (outcome: Outcome) => outcome.state === 'error' && outcome.error_type !== 'invalid_token'

const firstValue = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)

/** Reads the browser secret and the link token, which a retry needs. */
function cookieIn(header: string | undefined) {
  const [, browser, secret] = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{43})\\.(\\w+)(?:;|$)`).exec(header ?? '') ?? []
  return browser && secret ? { browser, secret } : undefined
}

const files = { 'link.css': 'text/css; charset=utf-8', 'link.js': 'text/javascript; charset=utf-8' }

function mountFiles(server: FastifyInstance) {
  for (const [name, type] of Object.entries(files)) {
    const text = readFileSync(new URL(`../../wearables/link/assets/${name}`, import.meta.url))
    server.get(`/link/assets/${name}`, async (_, reply) => reply.type(type).header('cache-control', 'public, max-age=3600').send(text))
  }
}
