import { createHmac, randomUUID } from 'node:crypto'
import { HOUR, later, MINUTE, SECOND } from '../../../../platform/time.ts'
import { newTokens } from '../../stand-in/oauth.ts'
import { bearerOf, newBehavior, openStandIn, type Request, type Response, type StandInOptions } from '../../stand-in/server.ts'
import type { WithingsUser } from './data.ts'
import { BAD_PARAMETERS, newNotifications } from './notifications.ts'
import { read } from './read.ts'

const scopes = ['user.info', 'user.metrics', 'user.activity', 'user.sleepevents']
const UNAUTHORIZED = 401
const NOT_ALLOWED = 277
const TOO_MANY = 601

/** The kind of notification about each list. */
const appliOf: Record<string, number> = { groups: 1, pressures: 4, activities: 16, workouts: 16, nights: 44 }

/** A local copy of the Withings cloud. Errors have the HTTP status 200, as at Withings. */
export async function openWithingsStandIn({
  client,
  users: accounts,
  port = 0,
  now = () => new Date().toISOString(),
  reach = (url) => url,
}: StandInOptions<WithingsUser>) {
  const users = new Map(accounts.map((user) => [user.id, user]))
  const tokens = newTokens({ client, now, accessMs: 3 * HOUR, codeMs: 30 * SECOND, graceMs: 8 * HOUR })
  const notifications = newNotifications(reach)
  const behavior = newBehavior()
  const nonces = new Map<string, string>()

  async function route(request: Request): Promise<Response> {
    const form = Object.fromEntries(new URLSearchParams(request.body))
    if (request.method !== 'POST') return envelope(BAD_PARAMETERS)
    if (request.path === '/v2/oauth2') return form['action'] === 'revoke' ? revoke(form) : issue(form)
    if (request.path === '/v2/signature') return newNonce(form)
    const owner = tokens.ownerOf(bearerOf(request))
    const user = owner && users.get(owner.user)
    if (!user) return envelope(UNAUTHORIZED)
    if (request.path === '/notify') {
      const { status, body } = await notifications.handle(user.id, form)
      return envelope(status, body)
    }
    if (behavior.lapsed) return envelope(NOT_ALLOWED)
    const found = read(user, request.path, form)
    if (!found) return envelope(BAD_PARAMETERS)
    return owner.scopes.includes(found.scope) ? envelope(0, found.body) : envelope(NOT_ALLOWED)
  }

  function issue(form: Record<string, string>): Response {
    const issued = form['action'] === 'requesttoken' ? tokens.token(form) : 'invalid_grant'
    if (typeof issued === 'string') return envelope(issued === 'invalid_client' ? UNAUTHORIZED : BAD_PARAMETERS)
    const { access_token, refresh_token, user, scopes } = issued
    const body = {
      userid: user,
      access_token,
      refresh_token,
      expires_in: (3 * HOUR) / SECOND,
      scope: scopes.join(','),
      token_type: 'Bearer',
    }
    return envelope(0, { ...body, csrf_token: 'csrf' })
  }

  const isSigned = ({ action = '', client_id = '', signature }: Record<string, string>, last: string) =>
    client_id === client.client_id &&
    signature === createHmac('sha256', client.client_secret).update([action, client_id, last].join(',')).digest('hex')

  function newNonce(form: Record<string, string>): Response {
    if (form['action'] !== 'getnonce' || !isSigned(form, form['timestamp'] ?? '')) return envelope(UNAUTHORIZED)
    const nonce = randomUUID()
    nonces.set(nonce, later(now(), 30 * MINUTE))
    return envelope(0, { nonce })
  }

  function revoke(form: Record<string, string>): Response {
    const { nonce = '', userid = '' } = form
    const isFresh = (nonces.get(nonce) ?? '') > now()
    nonces.delete(nonce)
    if (!isFresh || !isSigned(form, nonce)) return envelope(UNAUTHORIZED)
    end(userid)
    return envelope(0, {})
  }

  function end(userid: string) {
    tokens.revokeUser(userid)
    notifications.forget(userid)
  }

  /** The user unlinks the application at Withings. */
  function unlink(userid: string) {
    notifications.notify(userid, 46, { action: 'unlink' })
    end(userid)
  }

  /** Creates or changes an object, and queues the notification about its period. */
  function put(userid: string, name: string, object: { id: unknown } & Record<string, unknown>) {
    const user = users.get(userid)
    const list = user?.[name as 'groups'] as Record<string, unknown>[] | undefined
    if (!user || !Array.isArray(list)) return
    const modified = Math.floor(Date.parse(now()) / SECOND)
    const index = list.findIndex((one) => String(one['id']) === String(object.id))
    const changed = { ...list[index], ...object, id: Number(object.id), modified }
    if (index < 0) list.push(changed)
    else list[index] = changed
    notifications.notify(userid, appliOf[name] ?? 0, periodOf(changed))
  }

  function remove(userid: string, name: string, id: string) {
    const user = users.get(userid)
    const list = user?.[name as 'groups']
    if (user && Array.isArray(list)) Object.assign(user, { [name]: list.filter((one) => String(one.id) !== id) })
  }

  const { deliver, take } = notifications
  const consent = { name: 'Withings', path: '/oauth2_user/authorize2', scopes, separator: ',', accounts: [...users.keys()] }
  const isData = (path: string) => ['/measure', '/v2/measure', '/v2/sleep'].includes(path)
  const tooMany = () => envelope(TOO_MANY)
  const server = await openStandIn({ client, consent, tokens, behavior, port, isData, route, tooMany, put, remove, deliver })
  const { origin } = server
  return {
    ...{ ...server, behavior, users, tokens, deliver, take, put, remove, unlink },
    ...{ subscriptionsOf: notifications.subscriptionsOf, addSubscription: notifications.seed },
    /** The entry of OAUTH_SOURCES. */
    setting: { authorize_url: `${origin}${consent.path}`, token_url: `${origin}/v2/oauth2`, api_url: origin, ...client },
  }
}

const envelope = (status: number, body: object = {}): Response => ({
  status: 200,
  body: status === 0 ? { status, body } : { status, body: {}, error: 'The request failed.' },
})

/** The period that a notification names: that of a session, of a moment, or a day. */
function periodOf(object: Record<string, unknown>): Record<string, string> {
  const { startdate, enddate, date } = object
  if (typeof startdate === 'number' && typeof enddate === 'number') return { startdate: String(startdate), enddate: String(enddate) }
  return typeof date === 'number' ? { startdate: String(date), enddate: String(date + 1) } : { date: String(date) }
}
