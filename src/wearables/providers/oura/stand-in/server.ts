import { DAY, SECOND } from '../../../../platform/time.ts'
import { newTokens, tokenResponse } from '../../stand-in/oauth.ts'
import { bearerOf, newBehavior, openStandIn, pageOf, type Request, type Response, type StandInOptions } from '../../stand-in/server.ts'
import type { OuraObject, OuraUser } from './data.ts'
import { newWebhooks } from './webhooks.ts'

const scopes = [
  ...['email', 'personal', 'daily', 'heartrate', 'workout', 'tag', 'session', 'spo2', 'spo2Daily'],
  ...['ring_configuration', 'heart_health', 'stress', 'reproductive_cycle'],
]

/** The scope of each list. */
const lists: Record<string, string> = {
  ...{ sleep: 'daily', daily_sleep: 'daily', daily_activity: 'daily', daily_readiness: 'daily' },
  ...{ workout: 'workout', daily_spo2: 'spo2', vO2_max: 'heart_health', session: 'session' },
}

const PAGE_SIZE = 10
const HEART_RATE_PAGE_SIZE = 500

/** A local copy of the Oura cloud. It refuses what the cloud refuses, and a test or the control endpoints change its data. */
export async function openOuraStandIn({
  client,
  users: accounts,
  port = 0,
  now = () => new Date().toISOString(),
  reach = (url) => url,
}: StandInOptions<OuraUser>) {
  const users = new Map(accounts.map((user) => [user.id, user]))
  const tokens = newTokens({ client, now, accessMs: DAY })
  const webhooks = newWebhooks({ client, now, reach })
  const behavior = newBehavior()

  function route(request: Request): Response | Promise<Response> {
    const { method, path, headers, body } = request
    if (path === '/oauth/token' && method === 'POST') return tokensFor(body)
    if (path === '/oauth/revoke' && method === 'POST') return revoke(bearerOf(request))
    if (path.startsWith('/v2/webhook/subscription'))
      return webhooks.handle(method, path.split('/').slice(4), body ? JSON.parse(body) : undefined, headers)
    const [, version, collection, name = '', id] = path.split('/')
    if (method !== 'GET' || version !== 'v2' || collection !== 'usercollection') return error(404, 'Not found')
    return readData(request, name, id)
  }

  const tokensFor = (body: string) =>
    tokenResponse(tokens.token(Object.fromEntries(new URLSearchParams(body))), ({ scopes }) => ({
      expires_in: DAY / SECOND,
      scope: scopes.map((name) => `extapi:${name}`).join(' '),
    }))

  const revoke = (token: string) => (tokens.revoke(token) ? { status: 200, body: {} } : error(401, 'The token is not valid.'))

  function readData(request: Request, name: string, id: string | undefined): Response {
    const owner = tokens.ownerOf(bearerOf(request))
    const user = owner && users.get(owner.user)
    if (!owner || !user) return error(401, 'The access token has expired or is not valid.')
    if (behavior.lapsed) return error(403, 'The membership of the user has lapsed.')
    if (name === 'personal_info') return { status: 200, body: owner.scopes.includes('personal') ? user.personal : { id: user.id } }
    const scope = name === 'heartrate' ? 'heartrate' : lists[name]
    if (!scope) return error(404, 'Not found')
    if (!owner.scopes.includes(scope) && !(scope === 'spo2' && owner.scopes.includes('spo2Daily')))
      return error(403, 'The scope was not granted.')
    if (name === 'heartrate') return listHeartRate(user, request.query)
    if (!id) return listObjects([...(user.objects.get(name)?.values() ?? [])], request.query)
    const object = user.objects.get(name)?.get(decodeURIComponent(id))
    return object ? { status: 200, body: object } : error(404, 'The document does not exist.')
  }

  function tooMany(): Response {
    const reset = String(Math.floor(Date.parse(now()) / SECOND) + behavior.retryAfterSeconds)
    const headers = { 'retry-after': String(behavior.retryAfterSeconds), 'x-ratelimit-limit': '5000', 'x-ratelimit-window': '300' }
    return { ...error(429, 'Too many requests.'), headers: { ...headers, 'x-ratelimit-reset': reset, 'x-ratelimit-tier': 'application' } }
  }

  /** Creates or changes an object, and queues its notification. */
  function put(user_id: string, name: string, object: { id: string; day?: string } & Record<string, unknown>) {
    const objects = users.get(user_id)?.objects
    if (!objects) return
    const list = objects.get(name) ?? new Map<string, OuraObject>()
    const before = list.get(object.id)
    const meta = { updated_at: now(), version: (before?.meta.version ?? 0) + 1 }
    objects.set(name, list.set(object.id, { day: '', ...before, ...object, meta }))
    webhooks.notify({ event_type: before ? 'update' : 'create', data_type: name.toLowerCase(), object_id: object.id, user_id })
  }

  /** Deletes an object, and queues its notification. */
  function remove(user_id: string, name: string, id: string) {
    if (users.get(user_id)?.objects.get(name)?.delete(id))
      webhooks.notify({ event_type: 'delete', data_type: name.toLowerCase(), object_id: id, user_id })
  }

  const { subscriptions, deliver, take } = webhooks
  const consent = { name: 'Oura', path: '/oauth/authorize', scopes, separator: ' ', accounts: [...users.keys()] }
  const isData = (path: string) => path.startsWith('/v2/usercollection')
  const server = await openStandIn({ client, consent, tokens, behavior, port, isData, route, tooMany, put, remove, deliver })
  const { origin } = server
  return {
    ...{ ...server, behavior, users, tokens, subscriptions, deliver, take, put, remove },
    /** The entry of OAUTH_SOURCES. */
    setting: { authorize_url: `${origin}/oauth/authorize`, token_url: `${origin}/oauth/token`, api_url: origin, ...client },
  }
}

const error = (status: number, detail: string): Response => ({ status, body: { detail } })

const DAY_FORM = /^\d{4}-\d{2}-\d{2}$/

function listObjects(
  objects: OuraObject[],
  { start_date = '', end_date = '', next_token, fields: _, ...unknown }: Record<string, string>,
): Response {
  if (Object.keys(unknown).length) return error(422, `Unknown parameter: ${Object.keys(unknown).join(', ')}`)
  if (!DAY_FORM.test(start_date) || !DAY_FORM.test(end_date) || end_date < start_date)
    return error(400, 'start_date and end_date must be days.')
  const found = objects.filter(({ day }) => day >= start_date && day <= end_date).sort((a, b) => (a.day < b.day ? -1 : 1))
  return listPage(found, next_token, PAGE_SIZE)
}

function listHeartRate({ heartrate }: OuraUser, query: Record<string, string>): Response {
  const { start_datetime = '', end_datetime = '', next_token, latest: _, ...unknown } = query
  const [from, to] = [Date.parse(start_datetime), Date.parse(end_datetime)]
  if (Object.keys(unknown).length) return error(422, `Unknown parameter: ${Object.keys(unknown).join(', ')}`)
  if (!(to >= from) || to - from > 30 * DAY) return error(400, 'The period must have at most 30 days.')
  return listPage(
    heartrate.filter(({ timestamp }) => Date.parse(timestamp) >= from && Date.parse(timestamp) <= to),
    next_token,
    HEART_RATE_PAGE_SIZE,
  )
}

function listPage(items: unknown[], next_token: string | undefined, size: number): Response {
  const page = pageOf(items, next_token, size)
  return page ? { status: 200, body: { data: page.items, next_token: page.next } } : error(400, 'next_token is not valid.')
}
