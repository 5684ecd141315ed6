import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DAY, SECOND } from '../../../../platform/time.ts'
import type { OuraObject, OuraUser } from './data.ts'
import { consentPage, newTokens, type OAuthClient, type Response, scopes } from './oauth.ts'
import { newWebhooks } from './webhooks.ts'

/** The scope of each list. */
const lists: Record<string, string> = {
  ...{ sleep: 'daily', daily_sleep: 'daily', daily_activity: 'daily', daily_readiness: 'daily' },
  ...{ workout: 'workout', daily_spo2: 'spo2', vO2_max: 'heart_health', session: 'session' },
}

const PAGE_SIZE = 10
const HEART_RATE_PAGE_SIZE = 500

type Options = {
  client: OAuthClient
  users: OuraUser[]
  port?: number
  now?: () => string
  /** Where a callback URL is reached. Tests run several services on one machine. */
  reach?: (url: string) => string
}

/** A local copy of the Oura cloud. It refuses what the cloud refuses, and a test or the control endpoints change its data. */
export async function openOuraStandIn({ client, users, port = 0, now = () => new Date().toISOString(), reach = (url) => url }: Options) {
  const byId = new Map(users.map((user) => [user.id, user]))
  const tokens = newTokens(client, now)
  const webhooks = newWebhooks({ client, now, reach })
  const requests: { method: string; path: string; status: number }[] = []
  /** How the cloud behaves from now on. */
  const behavior = {
    down: false,
    /** Requests for data that are allowed before 429. */
    remaining: undefined as number | undefined,
    retryAfterSeconds: 60,
    lapsed: false,
    /** A response to requests for data instead of the usual one. */
    respondWith: undefined as { status: number; body: string } | undefined,
  }

  async function route(method: string, url: URL, body: string, headers: IncomingMessage['headers']): Promise<Response> {
    const path = url.pathname
    if (path === '/oauth/token' && method === 'POST') return tokens.token(Object.fromEntries(new URLSearchParams(body)))
    if (path === '/oauth/revoke' && method === 'POST') return tokens.revoke(bearerOf(headers))
    if (path.startsWith('/v2/webhook/subscription')) {
      const rest = path.split('/').slice(4)
      return webhooks.handle(method, rest, body ? JSON.parse(body) : undefined, headers)
    }
    const [, version, collection, name = '', id] = path.split('/')
    if (method !== 'GET' || version !== 'v2' || collection !== 'usercollection') return error(404, 'Not found')
    return readData(url, headers, name, id)
  }

  function readData({ searchParams }: URL, headers: IncomingMessage['headers'], name: string, id: string | undefined): Response {
    const owner = tokens.ownerOf(bearerOf(headers))
    const user = owner && byId.get(owner.user)
    if (!owner || !user) return error(401, 'The access token has expired or is not valid.')
    if (behavior.lapsed) return error(403, 'The membership of the user has lapsed.')
    if (behavior.remaining !== undefined && behavior.remaining-- <= 0) return tooMany()
    if (name === 'personal_info') return { status: 200, body: owner.scopes.includes('personal') ? user.personal : { id: user.id } }
    const scope = name === 'heartrate' ? 'heartrate' : lists[name]
    if (!scope) return error(404, 'Not found')
    if (!owner.scopes.includes(scope) && !(scope === 'spo2' && owner.scopes.includes('spo2Daily')))
      return error(403, 'The scope was not granted.')
    const query = Object.fromEntries(searchParams)
    if (name === 'heartrate') return listHeartRate(user, query)
    if (!id) return listObjects([...(user.objects.get(name)?.values() ?? [])], query)
    const object = user.objects.get(name)?.get(decodeURIComponent(id))
    return object ? { status: 200, body: object } : error(404, 'The document does not exist.')
  }

  function tooMany(): Response {
    const reset = String(Math.floor(Date.parse(now()) / SECOND) + behavior.retryAfterSeconds)
    const headers = { 'retry-after': String(behavior.retryAfterSeconds), 'x-ratelimit-limit': '5000', 'x-ratelimit-window': '300' }
    return { ...error(429, 'Too many requests.'), headers: { ...headers, 'x-ratelimit-reset': reset, 'x-ratelimit-tier': 'application' } }
  }

  /** Grants or denies access, and returns the URL that the browser goes to. */
  function decide(form: URLSearchParams) {
    const query = Object.fromEntries(form)
    const back = new URL(query['redirect_uri'] as string)
    if (query['state']) back.searchParams.set('state', query['state'])
    const granted = form.getAll('granted').filter((scope) => scopes.includes(scope))
    if (query['decision'] === 'deny' || !byId.has(query['user'] ?? '')) back.searchParams.set('error', 'access_denied')
    else {
      back.searchParams.set('code', tokens.newCode(query, { user: query['user'] as string, scopes: granted }))
      back.searchParams.set('scope', granted.join(' '))
    }
    return back.href
  }

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const method = request.method ?? 'GET'
    const body = await bodyOf(request)
    const send = ({ status, body, headers = {} }: Response) => {
      requests.push({ method, path: url.pathname, status })
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(status === 204 ? undefined : JSON.stringify(body))
    }
    if (behavior.down) return send(error(503, 'Service unavailable'))
    if (url.pathname === '/oauth/authorize') return authorize(method, url, body, response, send)
    if (behavior.respondWith && url.pathname.startsWith('/v2/usercollection')) {
      requests.push({ method, path: url.pathname, status: behavior.respondWith.status })
      return response.writeHead(behavior.respondWith.status, { location: 'http://169.254.169.254/' }).end(behavior.respondWith.body)
    }
    if (url.pathname.startsWith('/_sim/')) return send(await control(method, url.pathname.split('/').slice(2), body))
    send(await route(method, url, body, request.headers))
  }

  function authorize(method: string, url: URL, body: string, response: ServerResponse, send: (response: Response) => void) {
    const query = Object.fromEntries(url.searchParams)
    if (method === 'POST') return void response.writeHead(302, { location: decide(new URLSearchParams(body)) }).end()
    if (query['client_id'] !== client.client_id || query['response_type'] !== 'code' || !URL.canParse(query['redirect_uri'] ?? ''))
      return send(error(400, 'The request for authorization is not valid.'))
    const unknown = (query['scope'] ?? '').split(' ').filter((scope) => scope && !scopes.includes(scope))
    if (unknown.length) return send(error(400, `Unknown scope: ${unknown.join(', ')}`))
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(consentPage(query, [...byId.keys()]))
  }

  /** Creates or changes an object, and queues its notification. */
  function put(user_id: string, name: string, object: { id: string; day: string } & Record<string, unknown>) {
    const objects = byId.get(user_id)?.objects
    if (!objects) return
    const list = objects.get(name) ?? new Map<string, OuraObject>()
    const before = list.get(object.id)
    const meta = { updated_at: now(), version: (before?.meta.version ?? 0) + 1 }
    objects.set(name, list.set(object.id, { ...before, ...object, meta }))
    webhooks.notify({ event_type: before ? 'update' : 'create', data_type: name.toLowerCase(), object_id: object.id, user_id })
  }

  /** Deletes an object, and queues its notification. */
  function remove(user_id: string, name: string, id: string) {
    if (byId.get(user_id)?.objects.get(name)?.delete(id))
      webhooks.notify({ event_type: 'delete', data_type: name.toLowerCase(), object_id: id, user_id })
  }

  /** `PUT` and `DELETE /_sim/{user}/{list}/{id}` change data, and `POST /_sim/behavior` changes how the cloud behaves. */
  async function control(method: string, [first = '', name = '', id = '']: string[], body: string): Promise<Response> {
    const json = body ? (JSON.parse(body) as Record<string, unknown>) : {}
    if (method === 'POST' && first === 'behavior') Object.assign(behavior, json)
    else if (!byId.has(first) || !id) return error(404, 'Not found')
    else if (method === 'DELETE') remove(first, name, id)
    else put(first, name, { day: String(json['day'] ?? ''), ...json, id })
    await webhooks.deliver()
    return { status: 200, body: {} }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.writeHead(400, { 'content-type': 'application/json' }).end('{"detail":"Bad request"}'))
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    behavior,
    requests,
    users: byId,
    tokens,
    subscriptions: webhooks.subscriptions,
    deliver: webhooks.deliver,
    decide,
    put,
    remove,
    /** The entry of OAUTH_SOURCES. */
    setting: { authorize_url: `${origin}/oauth/authorize`, token_url: `${origin}/oauth/token`, api_url: origin, ...client },
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

const error = (status: number, detail: string): Response => ({ status, body: { detail } })

const bearerOf = ({ authorization = '' }: IncomingMessage['headers']) => authorization.replace(/^Bearer /, '')

const DAY_FORM = /^\d{4}-\d{2}-\d{2}$/

function listObjects(
  objects: OuraObject[],
  { start_date = '', end_date = '', next_token, fields: _, ...unknown }: Record<string, string>,
): Response {
  if (Object.keys(unknown).length) return error(422, `Unknown parameter: ${Object.keys(unknown).join(', ')}`)
  if (!DAY_FORM.test(start_date) || !DAY_FORM.test(end_date) || end_date < start_date)
    return error(400, 'start_date and end_date must be days.')
  const found = objects.filter(({ day }) => day >= start_date && day <= end_date).sort((a, b) => (a.day < b.day ? -1 : 1))
  return pageOf(found, next_token, PAGE_SIZE)
}

function listHeartRate({ heartrate }: OuraUser, query: Record<string, string>): Response {
  const { start_datetime = '', end_datetime = '', next_token, latest: _, ...unknown } = query
  const [from, to] = [Date.parse(start_datetime), Date.parse(end_datetime)]
  if (Object.keys(unknown).length) return error(422, `Unknown parameter: ${Object.keys(unknown).join(', ')}`)
  if (!(to >= from) || to - from > 30 * DAY) return error(400, 'The period must have at most 30 days.')
  return pageOf(
    heartrate.filter(({ timestamp }) => Date.parse(timestamp) >= from && Date.parse(timestamp) <= to),
    next_token,
    HEART_RATE_PAGE_SIZE,
  )
}

function pageOf(items: unknown[], next_token: string | undefined, size: number): Response {
  const start = next_token === undefined ? 0 : Number(Buffer.from(next_token, 'base64url').toString())
  if (!Number.isSafeInteger(start) || start < 0) return error(400, 'next_token is not valid.')
  const end = start + size
  return {
    status: 200,
    body: { data: items.slice(start, end), next_token: end < items.length ? Buffer.from(String(end)).toString('base64url') : null },
  }
}

async function bodyOf(request: IncomingMessage) {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
