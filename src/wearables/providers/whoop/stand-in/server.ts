import { createHmac, randomUUID } from 'node:crypto'
import { HOUR, SECOND } from '../../../../platform/time.ts'
import { newDeliveries } from '../../stand-in/deliveries.ts'
import { newTokens, tokenResponse } from '../../stand-in/oauth.ts'
import { bearerOf, newBehavior, openStandIn, pageOf, type Request, type Response, type StandInOptions } from '../../stand-in/server.ts'
import type { WhoopRecord, WhoopUser } from './data.ts'

const scopes = ['read:recovery', 'read:cycles', 'read:workout', 'read:sleep', 'read:profile', 'read:body_measurement', 'offline']

const BASE = '/developer/v2'
const MAX_LIMIT = 25
const ACCESS_MS = HOUR

/** A local copy of the WHOOP cloud. */
export async function openWhoopStandIn({
  client,
  users: accounts,
  port = 0,
  now = () => new Date().toISOString(),
  reach = (url) => url,
}: StandInOptions<WhoopUser>) {
  const users = new Map(accounts.map((user) => [user.id, user]))
  const tokens = newTokens({ client, now, accessMs: ACCESS_MS, renewalEndsAccess: true })
  const deliveries = newDeliveries(reach)
  const behavior = newBehavior()

  function route(request: Request): Response {
    const { method, path } = request
    if (path === '/oauth/oauth2/token' && method === 'POST') return issue(Object.fromEntries(new URLSearchParams(request.body)))
    const owner = tokens.ownerOf(bearerOf(request))
    const user = owner && users.get(owner.user)
    if (!user) return error(401, 'Authorization was not valid')
    if (method === 'DELETE' && path === `${BASE}/user/access`) {
      tokens.revokeUser(user.id)
      return { status: 204 }
    }
    if (behavior.lapsed) return error(403, 'Forbidden')
    const found = method === 'GET' ? sourceOf(user, path.slice(BASE.length)) : undefined
    if (!found || !path.startsWith(BASE)) return error(404, 'Not found')
    if (!owner.scopes.includes(found.scope)) return error(403, 'The scope was not granted.')
    const response = 'list' in found ? listOf(found.list, request.query) : objectOf(found.object)
    return { ...response, headers: quota() }
  }

  /** A renewal asks for the scope `offline` again. */
  function issue(form: Record<string, string>): Response {
    const isComplete = form['grant_type'] !== 'refresh_token' || form['scope'] === 'offline'
    return tokenResponse(isComplete ? tokens.token(form) : 'invalid_grant', ({ scopes }) => ({
      expires_in: ACCESS_MS / SECOND,
      scope: scopes.join(' '),
    }))
  }

  const tooMany = (): Response => ({ ...error(429, 'Too many requests'), headers: quota() })

  const quota = () => ({
    'x-ratelimit-limit': '100, 100;window=60, 10000;window=86400',
    'x-ratelimit-remaining': String(Math.max(0, behavior.remaining ?? 99)),
    'x-ratelimit-reset': String(behavior.retryAfterSeconds),
  })

  /** Queues a notification to the URL in the dashboard. */
  function notify(user: WhoopUser, id: string, type: string) {
    const body = JSON.stringify({ user_id: Number(user.id), id, type, trace_id: randomUUID() })
    const timestamp = String(Date.parse(now()))
    const signature = createHmac('sha256', client.client_secret)
      .update(timestamp + body)
      .digest('base64')
    const headers = { 'content-type': 'application/json', 'x-whoop-signature': signature, 'x-whoop-signature-timestamp': timestamp }
    if (behavior.webhook_url && tokens.isConnected(user.id)) deliveries.add({ url: behavior.webhook_url, headers, body })
  }

  const kinds = { sleeps: 'sleep', recoveries: 'recovery', workouts: 'workout' } as const
  const listIn = (user: WhoopUser | undefined, name: string) => user?.[name as 'sleeps'] as Map<string, WhoopRecord> | undefined

  /** Creates or changes a record, and queues its notification. A recovery has the ID of its sleep. */
  function put(account: string, name: string, record: { id: string } & Record<string, unknown>) {
    const user = users.get(account)
    const list = listIn(user, name)
    if (!user || !list) return
    const { id, ...fields } = record
    const base = name === 'recoveries' ? {} : { id }
    list.set(id, { ...list.get(id), ...fields, ...base, updated_at: now() } as WhoopRecord)
    notify(user, id, `${kinds[name as keyof typeof kinds]}.updated`)
  }

  function remove(account: string, name: string, id: string) {
    const user = users.get(account)
    if (user && listIn(user, name)?.delete(id)) notify(user, id, `${kinds[name as keyof typeof kinds]}.deleted`)
  }

  const { deliver, take } = deliveries
  const consent = { name: 'WHOOP', path: '/oauth/oauth2/auth', scopes, separator: ' ', accounts: [...users.keys()] }
  const isData = (path: string) => path.startsWith(BASE) && !path.endsWith('/profile/basic')
  const server = await openStandIn({ client, consent, tokens, behavior, port, isData, route, tooMany, put, remove, deliver })
  const { origin } = server
  return {
    ...{ ...server, behavior, users, tokens, deliver, take, put, remove },
    /** The entry of OAUTH_SOURCES. */
    setting: { authorize_url: `${origin}${consent.path}`, token_url: `${origin}/oauth/oauth2/token`, api_url: origin, ...client },
  }
}

const error = (status: number, message: string): Response => ({ status, body: { message } })

const objectOf = (object: object | undefined): Response => (object ? { status: 200, body: object } : error(404, 'Not found'))

type Source = { scope: string; list: { start: string }[] } | { scope: string; object: object | undefined }

/** What a path is about. */
function sourceOf(user: WhoopUser, path: string): Source | undefined {
  const [, area, name, id] = path.split('/')
  if (area === 'user')
    return {
      '/user/profile/basic': { scope: 'read:profile', object: { user_id: Number(user.id), email: `${user.id}@example.com` } },
      '/user/measurement/body': { scope: 'read:body_measurement', object: user.body },
    }[path]
  if (path === '/recovery') return { scope: 'read:recovery', list: recoveriesOf(user) }
  if (path === '/cycle') return { scope: 'read:cycles', list: user.cycles }
  const [scope, records] = name === 'sleep' ? ['read:sleep', user.sleeps] : ['read:workout', user.workouts]
  if (area !== 'activity' || (name !== 'sleep' && name !== 'workout')) return undefined
  return id ? { scope, object: records.get(id) } : { scope, list: [...records.values()] }
}

/** Recoveries are listed by the time of their sleep. */
const recoveriesOf = (user: WhoopUser) =>
  [...user.recoveries.values()].map((recovery) => ({ start: user.sleeps.get(recovery.sleep_id)?.start ?? '', ...recovery }))

/** The newest records come first. */
function listOf(records: { start: string }[], { limit = '10', start, end, nextToken, ...unknown }: Record<string, string>): Response {
  const count = Number(limit)
  if (Object.keys(unknown).length || !(count >= 1 && count <= MAX_LIMIT)) return error(400, 'The parameters are not valid.')
  const found = records
    .filter((one) => (!start || one.start >= start) && (!end || one.start < end))
    .sort((a, b) => (a.start > b.start ? -1 : 1))
  const page = pageOf(found, nextToken, count)
  return page ? { status: 200, body: { records: page.items, next_token: page.next } } : error(400, 'The token is not valid.')
}
