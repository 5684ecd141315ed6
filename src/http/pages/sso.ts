import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/app.ts'
import { cookie, cookieIn, sessionCookie, sessionSecretIn } from '../../tenants/people/sessions/rules.ts'
import { finishSso, startSso } from '../../tenants/people/sso/actions.ts'
import { FLOW_SECONDS } from '../../tenants/people/sso/provider.ts'

const SUFFIX = '-sso'

/** Serves the redirects of single sign-on. The provider sends the browser back from another site, so the cookie is Lax. */
export function mountSso(app: App, server: FastifyInstance) {
  const flowCookie = ({ headers }: FastifyRequest, value: string, seconds: number) =>
    cookie(app.config, headers, { suffix: SUFFIX, value, seconds, sameSite: 'Lax' })
  server.get('/console/sso/start', async (request, reply) => {
    const started = await startSso(app).catch((error) => {
      app.log.warn({ request_id: request.id, err: String(error) }, 'the provider of single sign-on is not available')
    })
    if (!started) return redirect(reply, '/console/sign-in?sso=SSO_FAILED')
    reply.header('set-cookie', flowCookie(request, started.cookie, FLOW_SECONDS))
    return redirect(reply, started.url)
  })
  server.get('/console/sso/callback', async (request, reply) => {
    const { id: request_id, ip: address, headers } = request
    let session: string | null | undefined
    const setSession = (secret: string | null) => {
      session = secret
    }
    const http = { address, request_id, session: sessionSecretIn(app.config, headers), setSession, setDevice: () => {} }
    const search = request.url.split('?')[1] ?? ''
    const failure = await finishSso({ ...app, request: http }, search, cookieIn(app.config, headers, SUFFIX))
    reply.header('set-cookie', flowCookie(request, '', 0))
    if (failure) return redirect(reply, `/console/sign-in?sso=${failure}`)
    if (session) reply.header('set-cookie', sessionCookie(app.config, headers, session))
    return redirect(reply, '/console?sso=done')
  })
}

const redirect = (reply: FastifyReply, url: string) => reply.header('cache-control', 'no-store').redirect(url, 302)
