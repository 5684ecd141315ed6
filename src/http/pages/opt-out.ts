import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { changeOptOut, patientOf } from '../../delivery/messages/opt-out.ts'
import type { App } from '../../platform/app.ts'
import { type Html, html } from '../../platform/html.ts'
import { countAgainstLimit } from '../../tenants/people/sessions/attempt-limiter.ts'
import { networkOf } from '../../tenants/people/sessions/rules.ts'

/** Allows forms to this service, and nothing else. */
const POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
const PATH = '/messages/unsubscribe'
const FORM_LIMIT = 4 * 1024
/** Each change of a patient is audited, so a link works only so often in 15 minutes. */
export const MAX_CHANGES = 20

const english = {
  title: 'Messages',
  ask: 'Do you want to stop getting messages about your orders and appointments by email?',
  stop: 'Stop messages',
  stopped: 'You get no more messages by email.',
  undo: 'Get messages again',
  resumed: 'You get messages by email again.',
  invalid: 'This link is not valid. Use the link in the latest message.',
}
const spanish: typeof english = {
  title: 'Mensajes',
  ask: '¿Quiere dejar de recibir por correo electrónico mensajes sobre sus pedidos y citas?',
  stop: 'Dejar de recibir mensajes',
  stopped: 'Ya no recibirá mensajes por correo electrónico.',
  undo: 'Volver a recibir mensajes',
  resumed: 'Volverá a recibir mensajes por correo electrónico.',
  invalid: 'Este enlace no es válido. Use el enlace del último mensaje.',
}

type Fields = Record<string, string | string[] | undefined>
type Request = FastifyRequest<{ Querystring: Fields; Body: Fields | undefined }>

/**
 * The page behind the link in messages to patients. Opening it changes nothing, because mail programs open links by themselves.
 * A mail program that offers to unsubscribe posts to the same URL (RFC 8058).
 */
export async function mountOptOut(app: App, server: FastifyInstance) {
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const options = { parseAs: 'string', bodyLimit: FORM_LIMIT } as const
    // Mail programs send either kind of form. Only the form of the page, which is URL-encoded, has a field that counts.
    scope.addContentTypeParser('*', options, async (_: unknown, text: string) => Object.fromEntries(new URLSearchParams(text)))
    const refuse = async ({ query, ip }: Request, reply: FastifyReply) => {
      await countAgainstLimit(app, `unsubscribe links at ${networkOf(ip)}`)
      return send(reply, 400, textOf(query), textOf(query).invalid)
    }
    scope.get(PATH, async (request: Request, reply) => {
      const { query } = request
      const text = textOf(query)
      return patientOf(app, tokenOf(query)) ? send(reply, 200, text, askPage(text, query)) : refuse(request, reply)
    })
    scope.post(PATH, async (request: Request, reply) => {
      const { query, body, id: request_id } = request
      const text = textOf(query)
      const patient = patientOf(app, tokenOf(query))
      if (!patient) return refuse(request, reply)
      await countAgainstLimit(app, `opt-outs of ${patient.user_id}`, MAX_CHANGES)
      const wantsMessages = body?.['messages'] === 'resume'
      if (!(await changeOptOut(app, patient, { wantsMessages, request_id }))) return refuse(request, reply)
      return send(reply, 200, text, wantsMessages ? text.resumed : stoppedPage(text, query))
    })
  })
}

const firstOf = (fields: Fields, name: string) => [fields[name]].flat()[0] ?? ''
const tokenOf = (query: Fields) => firstOf(query, 'token').slice(0, 200)
const languageOf = (query: Fields) => (firstOf(query, 'language') === 'es' ? 'es' : 'en')
const textOf = (query: Fields) => (languageOf(query) === 'es' ? spanish : english)

const urlOf = (query: Fields) => `${PATH}?token=${encodeURIComponent(tokenOf(query))}&language=${languageOf(query)}`

const askPage = ({ ask, stop }: typeof english, query: Fields) =>
  html`<p>${ask}</p><form method="post" action="${urlOf(query)}"><button>${stop}</button></form>`

const stoppedPage = ({ stopped, undo }: typeof english, query: Fields) =>
  html`<p>${stopped}</p><form method="post" action="${urlOf(query)}"><button name="messages" value="resume">${undo}</button></form>`

function send(reply: FastifyReply, status: number, text: typeof english, content: Html | string) {
  const page = html`<!doctype html><html lang="${text === spanish ? 'es' : 'en'}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text.title}</title><main><h1>${text.title}</h1>${content}</main></html>`
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('content-security-policy', POLICY)
    .type('text/html; charset=utf-8')
    .send(page.html)
}
