import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isSource } from '../../contract/tenants/sources.ts'
import type { App } from '../../platform/app.ts'
import { publicUrl } from '../../platform/config.ts'
import { problem } from '../../platform/problem.ts'
import * as visit from '../../wearables/link/browser-session.ts'
import { finishOAuth, newBrowserSecret, startOAuth } from '../../wearables/link/oauth.ts'
import * as pages from '../../wearables/link/page.ts'

/** The page asks nobody but us, and nobody may put it into a frame. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

const FORM_LIMIT = 16 * 1024
const COOKIE = 'assay_link'

type Query = Record<string, string | string[] | undefined>
type Request = FastifyRequest<{ Querystring: Query; Params: { slug: string; way: string }; Body: Record<string, string> | undefined }>

/** Where an end user connects a source. */
export async function mountLinkPages(app: App, server: FastifyInstance) {
  await server.register(async (scope) => {
    // A form has texts and nothing else.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_LIMIT },
      async (_: unknown, text: string) => Object.fromEntries(new URLSearchParams(text)),
    )
    const guarded =
      (show: (request: Request, reply: FastifyReply) => Promise<visit.PageResponse>) => async (request: Request, reply: FastifyReply) =>
        send(reply, await show(request, reply).catch(visit.refusalResponse))
    const guest = (request: Request, show: (guest: visit.BrowserSession) => Promise<visit.PageResponse>) =>
      visit.withBrowserSession(app, one(request.query['token']) ?? request.body?.['token'], show)

    scope.get(
      '/link',
      guarded((request) => guest(request, (guest) => visit.showSources(app, guest, one(request.query['q'])))),
    )
    scope.get(
      '/link/source/:slug',
      guarded((request) => guest(request, (guest) => visit.showSource(app, guest, request.params.slug))),
    )
    scope.get(
      '/link/close',
      guarded((request) => guest(request, async (guest) => visit.close(guest))),
    )
    scope.get(
      '/link/oauth/:slug',
      guarded((request, reply) => guest(request, (guest) => setOut(app, guest, request, reply))),
    )
    scope.post(
      '/link/:way/:slug',
      guarded((request) => guest(request, (guest) => visit.submit(app, guest, request.params, request.body ?? {}))),
    )
    scope.get(
      '/v2/link/oauth/callback',
      guarded((request) => arrive(app, request)),
    )
    mountFiles(scope)
  })
}

function send(reply: FastifyReply, sight: visit.PageResponse) {
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').header('content-security-policy', POLICY)
  if ('to' in sight) return reply.redirect(sight.to, 307)
  return reply.code(sight.status).type('text/html; charset=utf-8').send(sight.html)
}

/** The browser takes a secret along that comes back with it alone: nobody else's way ends here. */
async function setOut(
  app: App,
  guest: visit.BrowserSession,
  { params, headers }: Request,
  reply: FastifyReply,
): Promise<visit.PageResponse> {
  const { slug } = params
  if (!isSource(slug)) throw problem('SOURCE_NOT_OFFERED', 'No such source.')
  const browser = cookieIn(headers.cookie)?.browser ?? newBrowserSecret()
  const { oauth_url } = await startOAuth(app, guest.caller, slug, browser)
  const secure = publicUrl(app.config).startsWith('https:') ? '; Secure' : ''
  reply.header('set-cookie', `${COOKIE}=${browser}.${guest.frame.token}; Path=/v2/link/oauth; HttpOnly; SameSite=Lax; Max-Age=900${secure}`)
  return { to: oauth_url }
}

async function arrive(app: App, { query, headers }: Request): Promise<visit.PageResponse> {
  const sent = { state: one(query['state']), code: one(query['code']), error: one(query['error']) }
  const cookie = cookieIn(headers.cookie)
  const { token, began, provider, outcome } = await finishOAuth(app, { ...sent, browser: cookie?.browser })
  if (!token || !provider) return { status: 400, html: pages.endPage(undefined, outcome) }
  // Whoever began somewhere else goes on there, whatever came of it.
  if (began === 'api') return visit.endResponse({ token: { ...token, on_error: true }, frame: undefined }, outcome, { slug: provider })
  return visit.endResponse({ token, frame: visit.frameOf(token, cookie?.secret) }, outcome, { slug: provider })
}

const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)

/** What the browser took along: its own secret, and the link token to try again with. */
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
