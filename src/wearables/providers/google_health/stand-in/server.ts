import { generateKeyPairSync } from 'node:crypto'
import { HOUR, SECOND } from '../../../../platform/time.ts'
import { newTokens, tokenResponse } from '../../stand-in/oauth.ts'
import { bearerOf, newBehavior, openStandIn, type Request, type Response, type StandInOptions } from '../../stand-in/server.ts'
import { addPoint, type GoogleUser } from './data.ts'
import { error, listPoints, refusalOf, rollUpDays, scopes } from './read.ts'
import { newWebhooks } from './webhooks.ts'

const PROJECT = 'simulated-project'
const KEYS_PATH = '/googlehealthapi/webhooks/webhooks_public_keyset.json'
const DATA_PATH = /^\/v4\/users\/me\/dataTypes\/([a-z0-9-]+)\/dataPoints(:reconcile|:dailyRollUp)?$/

type Place = Parameters<typeof addPoint>[2]

/** A local copy of the Google Health cloud. It refuses what the cloud refuses, and a test or the control endpoints change its data. */
export async function openGoogleStandIn({
  client,
  users: accounts,
  port = 0,
  now = () => new Date().toISOString(),
  reach = (url) => url,
}: StandInOptions<GoogleUser>) {
  const users = new Map(accounts.map((user) => [user.id, user]))
  const service = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    ...{ publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' } },
  })
  const tokens = newTokens({ client, now, accessMs: HOUR, keepsRefresh: true })
  const behavior = newBehavior()
  const webhooks = newWebhooks({ project: PROJECT, servicePublicKey: service.publicKey, now, reach, hasConsent: tokens.isConnected })

  function route(request: Request): Response | Promise<Response> {
    const { method, path, body } = request
    const form = () => Object.fromEntries(new URLSearchParams(body))
    if (path === '/token' && method === 'POST')
      return tokenResponse(tokens.token(form()), ({ scopes }) => ({ expires_in: HOUR / SECOND - 1, scope: scopes.join(' ') }))
    if (path === '/revoke' && method === 'POST') return revoke(form()['token'] ?? '')
    if (path === KEYS_PATH && method === 'GET') return { status: 200, body: webhooks.keySet() }
    if (path.startsWith(`/v4/projects/${PROJECT}/subscribers`)) return webhooks.handle(request)
    return readData(request)
  }

  const revoke = (token: string): Response =>
    tokens.revoke(token) ? { status: 200, body: {} } : { status: 400, body: { error: 'invalid_token' } }

  function readData(request: Request): Response {
    const { method, path, query, body } = request
    const owner = tokens.ownerOf(bearerOf(request))
    const user = owner && users.get(owner.user)
    if (!owner || !user) return error(401, 'UNAUTHENTICATED', 'The access token has expired or is not valid.')
    if (behavior.lapsed) return error(403, 'PERMISSION_DENIED', 'The user has withdrawn the consent.')
    if (path === '/v4/users/me/identity' && method === 'GET')
      return { status: 200, body: { name: `users/${user.id}/identity`, healthUserId: user.id, legacyUserId: user.legacyUserId } }
    const [, type = '', verb] = DATA_PATH.exec(path) ?? []
    if (!type || method !== (verb === ':dailyRollUp' ? 'POST' : 'GET')) return error(404, 'NOT_FOUND', 'Not found')
    const refusal = refusalOf(type, owner.scopes)
    if (refusal) return refusal
    return verb === ':dailyRollUp' ? rollUpDays(user, type, JSON.parse(body)) : listPoints(user, type, verb === ':reconcile', query)
  }

  /** The cloud does not say how long to wait. */
  const tooMany = () => error(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.')

  /** Adds or changes a point, and queues its notification. */
  function putPoint(user_id: string, type: string, place: Place, fields: Record<string, unknown>) {
    const user = users.get(user_id)
    if (!user) return
    const { at, end } = addPoint(user, type, place, fields)
    webhooks.notify({ user: user_id, operation: 'UPSERT', dataType: type, from: at, to: end })
  }

  /** Changes a point by the control endpoints, with `at` and `end` in its fields. */
  function put(user_id: string, type: string, { id, at, end, ...fields }: { id: string } & Record<string, unknown>) {
    const before = users.get(user_id)?.points.get(type)?.get(id)
    const start = typeof at === 'string' ? Date.parse(at) : before?.at
    if (start === undefined) return
    const stop = typeof end === 'string' ? Date.parse(end) : (before?.end ?? start)
    putPoint(user_id, type, { id, at: start, end: stop, family: before?.family ?? 'wearables' }, { ...before?.value, ...fields })
  }

  /** Deletes a point, and queues its notification. */
  function remove(user_id: string, type: string, id: string) {
    const points = users.get(user_id)?.points.get(type)
    const point = points?.get(id)
    if (!point) return
    points?.delete(id)
    webhooks.notify({ user: user_id, operation: 'DELETE', dataType: type, from: point.at, to: point.end })
  }

  const { deliver, take, subscribers, rotateKeys, signatureOf } = webhooks
  const consent = { name: 'Google Health', path: '/o/oauth2/v2/auth', scopes, separator: ' ', accounts: [...users.keys()] }
  const isData = (path: string) => path.startsWith('/v4/users/')
  const server = await openStandIn({ client, consent, tokens, behavior, port, isData, route, tooMany, put, remove, deliver })
  const { origin } = server
  return {
    ...{ ...server, behavior, users, tokens, subscribers, deliver, take, put, putPoint, remove, rotateKeys, signatureOf },
    /** The entry of OAUTH_SOURCES. */
    setting: {
      ...{ authorize_url: `${origin}/o/oauth2/v2/auth`, token_url: `${origin}/token`, revoke_url: `${origin}/revoke`, api_url: origin },
      service_account: { project_id: PROJECT, client_email: `assay@${PROJECT}.example`, private_key: service.privateKey },
      ...client,
    },
  }
}
