import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Consent, consentPage, type newTokens, type OAuthClient } from './oauth.ts'
import { withOddities } from './odd-records.ts'

export type Request = {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingMessage['headers']
  body: string
}
export type Response = { status: number; body?: object; headers?: Record<string, string> }

/** The options of every stand-in. */
export type StandInOptions<User> = {
  client: OAuthClient
  users: User[]
  port?: number
  now?: () => string
  /** Where a callback URL is reached. Tests run several services on one machine. */
  reach?: (url: string) => string
}

/** How a cloud behaves from now on. */
export const newBehavior = () => ({
  down: false,
  /** Requests for data that are allowed before the cloud limits them. */
  remaining: undefined as number | undefined,
  retryAfterSeconds: 60,
  /** The cloud refuses access to the data, for example because a membership lapsed. */
  lapsed: false,
  /** A response to requests for data instead of the usual one. */
  respondWith: undefined as { status: number; body: string } | undefined,
  /** Records in each page of data that are not as documented: null, text, or with other types. */
  odd_records: 0,
  /** The numbers of the first record of each page are absent, as Protocol Buffers write it. */
  absent_numbers: false,
  /** Where notifications go, for clouds whose dashboard has the URL. */
  webhook_url: undefined as string | undefined,
})
export type Behavior = ReturnType<typeof newBehavior>

export type StandIn = {
  client: OAuthClient
  consent: Consent
  tokens: ReturnType<typeof newTokens>
  behavior: Behavior
  port: number
  isData(path: string): boolean
  route(request: Request): Response | Promise<Response>
  tooMany(): Response
  /** Changes data, for the control endpoints. */
  put(account: string, list: string, object: { id: string } & Record<string, unknown>): void
  remove(account: string, list: string, id: string): void
  deliver(): Promise<unknown>
}

/** The HTTP server of a stand-in: consent pages, outages, limits, malformed responses and control endpoints. */
export async function openStandIn(cloud: StandIn) {
  const { client, consent, tokens, behavior } = cloud
  const requests: { method: string; path: string; status: number }[] = []

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse) {
    const url = new URL(incoming.url ?? '/', 'http://127.0.0.1')
    const query = Object.fromEntries(url.searchParams)
    const request = { method: incoming.method ?? 'GET', path: url.pathname, query, headers: incoming.headers, body: await bodyOf(incoming) }
    const log = (status: number) => requests.push({ method: request.method, path: request.path, status })
    const send = ({ status, body, headers = {} }: Response) => {
      log(status)
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body && JSON.stringify(body))
    }
    if (behavior.down) return send({ status: 503, body: { detail: 'Service unavailable' } })
    if (request.path === consent.path) return authorize(request, outgoing, send)
    if (request.path.startsWith('/_sim/')) return send(await control(request))
    if (!cloud.isData(request.path)) return send(await cloud.route(request))
    if (behavior.respondWith) {
      log(behavior.respondWith.status)
      return outgoing.writeHead(behavior.respondWith.status, { location: 'http://169.254.169.254/' }).end(behavior.respondWith.body)
    }
    if (behavior.remaining !== undefined && behavior.remaining-- <= 0) return send(cloud.tooMany())
    send(withOddities(await cloud.route(request), behavior))
  }

  function authorize({ method, query, body }: Request, outgoing: ServerResponse, send: (response: Response) => void) {
    if (method === 'POST') return void outgoing.writeHead(302, { location: decide(new URLSearchParams(body)) }).end()
    if (query['client_id'] !== client.client_id || query['response_type'] !== 'code' || !URL.canParse(query['redirect_uri'] ?? ''))
      return send({ status: 400, body: { detail: 'The request for authorization is not valid.' } })
    const unknown = (query['scope'] ?? '').split(consent.separator).filter((scope) => scope && !consent.scopes.includes(scope))
    if (unknown.length) return send({ status: 400, body: { detail: `Unknown scope: ${unknown.join(', ')}` } })
    outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(consentPage(consent, query))
  }

  /** Grants or denies access, and returns the URL that the browser goes to. */
  function decide(form: URLSearchParams) {
    const query = Object.fromEntries(form)
    const back = new URL(query['redirect_uri'] as string)
    if (query['state']) back.searchParams.set('state', query['state'])
    const scopes = form.getAll('granted').filter((scope) => consent.scopes.includes(scope))
    const user = query['user'] ?? ''
    if (query['decision'] === 'deny' || !consent.accounts.includes(user)) back.searchParams.set('error', 'access_denied')
    else {
      back.searchParams.set('code', tokens.newCode(query, { user, scopes }))
      back.searchParams.set('scope', scopes.join(consent.separator))
    }
    return back.href
  }

  /** `PUT` and `DELETE /_sim/{account}/{list}/{id}` change data, and `POST /_sim/behavior` changes how the cloud behaves. */
  async function control({ method, path, body }: Request): Promise<Response> {
    const [, , account = '', list = '', id = ''] = path.split('/')
    const json = body ? (JSON.parse(body) as Record<string, unknown>) : {}
    if (method === 'POST' && account === 'behavior') Object.assign(behavior, json)
    else if (!consent.accounts.includes(account) || !id) return { status: 404, body: { detail: 'Not found' } }
    else if (method === 'DELETE') cloud.remove(account, list, id)
    else cloud.put(account, list, { ...json, id })
    await cloud.deliver()
    return { status: 200, body: {} }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.writeHead(400, { 'content-type': 'application/json' }).end('{"detail":"Bad request"}'))
  })
  await once(server.listen(cloud.port, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  return { origin, requests, decide, close }
}

export const bearerOf = ({ headers }: Pick<Request, 'headers'>) => (headers.authorization ?? '').replace(/^Bearer /, '')

/** A page of a list, and the place of the next one. Undefined if `start` is not a place in the list. */
export function pageOf<T>(items: T[], start: string | undefined, size: number) {
  const from = start === undefined || start === '' ? 0 : Number(Buffer.from(start, 'base64url').toString())
  if (!Number.isSafeInteger(from) || from < 0) return undefined
  const to = from + size
  return { items: items.slice(from, to), next: to < items.length ? Buffer.from(String(to)).toString('base64url') : null }
}

async function bodyOf(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
