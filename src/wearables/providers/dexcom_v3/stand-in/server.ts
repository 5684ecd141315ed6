import { DAY, HOUR, SECOND } from '../../../../platform/time.ts'
import { newTokens, tokenResponse } from '../../stand-in/oauth.ts'
import { bearerOf, newBehavior, openStandIn, type Request, type Response, type StandInOptions } from '../../stand-in/server.ts'
import { addEgv, addEvent, type DexcomRecord, type DexcomUser } from './data.ts'

const MAX_DAYS = 30
const lists = { egvs: 'egv', events: 'event', calibrations: 'calibration', alerts: 'alert', devices: 'device' }

type Options = StandInOptions<DexcomUser> & {
  /** Records are shown this long after they were uploaded. */
  delayMs?: number
}

/** A local copy of the Dexcom cloud of one region. It refuses what the cloud refuses, and sends no notifications. */
export async function openDexcomStandIn({ client, users: accounts, port = 0, now = () => new Date().toISOString(), delayMs = 0 }: Options) {
  const users = new Map(accounts.map((user) => [user.id, user]))
  const tokens = newTokens({ client, now, accessMs: 2 * HOUR })
  const behavior = newBehavior()

  function route(request: Request): Response {
    const { method, path, body } = request
    if (path === '/v2/oauth2/token' && method === 'POST')
      return tokenResponse(tokens.token(Object.fromEntries(new URLSearchParams(body))), () => ({ expires_in: (2 * HOUR) / SECOND }))
    const [, version, collection, self, name = ''] = path.split('/')
    if (method !== 'GET' || version !== 'v3' || collection !== 'users' || self !== 'self') return fault(404, 'Not found')
    return readData(request, name)
  }

  function readData(request: Request, name: string): Response {
    const owner = tokens.ownerOf(bearerOf(request))
    const user = owner && users.get(owner.user)
    if (!user) return fault(401, 'The access token is not valid.')
    if (behavior.lapsed) return fault(403, 'The user has not consented.')
    if (name === 'dataRange') return dataRange(user, request.query)
    return Object.hasOwn(lists, name) ? listRecords(user, name as keyof typeof lists, request.query) : fault(404, 'Not found')
  }

  /** The records that the cloud shows by now. */
  const shown = (records: Map<string, DexcomRecord> | undefined) =>
    [...(records?.values() ?? [])].filter(({ uploaded_at }) => uploaded_at + delayMs <= Date.parse(now()))

  const recordsOf = (user: DexcomUser, name: string) => (name === 'egvs' ? user.egvs : name === 'events' ? user.events : undefined)

  function listRecords(
    user: DexcomUser,
    name: keyof typeof lists,
    { startDate = '', endDate = '', ...unknown }: Request['query'],
  ): Response {
    const [from, to] = [startDate, endDate].map((text) => (DATE_TIME.test(text) ? Date.parse(`${text}Z`) : Number.NaN)) as [number, number]
    if (Object.keys(unknown).length || !(to >= from) || to - from > MAX_DAYS * DAY) return fault(400, 'The window is not valid.')
    const records = shown(recordsOf(user, name))
      .filter(({ at }) => at >= from && at < to)
      .sort((a, b) => b.at - a.at)
    return {
      status: 200,
      body: { ...header(user, lists[name]), records: records.map(({ recordId, fields }) => ({ recordId, ...fields })) },
    }
  }

  function dataRange(user: DexcomUser, { lastSyncTime, ...unknown }: Request['query']): Response {
    const since = lastSyncTime === undefined ? Number.NEGATIVE_INFINITY : ZONED.test(lastSyncTime) ? Date.parse(lastSyncTime) : Number.NaN
    if (Object.keys(unknown).length || Number.isNaN(since)) return fault(400, 'lastSyncTime is not valid.')
    const spanOf = (name: string) => {
      const found = shown(recordsOf(user, name)).filter(({ uploaded_at }) => uploaded_at + delayMs > since)
      const sorted = found.sort((a, b) => a.at - b.at).map(({ fields: { systemTime, displayTime } }) => ({ systemTime, displayTime }))
      return sorted.length ? { [name]: { start: sorted[0], end: sorted.at(-1) } } : {}
    }
    return { status: 200, body: { ...header(user, 'dataRange'), ...spanOf('egvs'), ...spanOf('events') } }
  }

  const header = ({ id }: DexcomUser, recordType: string) => ({ recordType, recordVersion: '3.0', userId: id })

  const tooMany = () => fault(429, 'Too many requests.')

  /** Adds or changes a record that the cloud got now, with `at` in its fields. */
  function put(user_id: string, name: string, { id, at, ...fields }: { id: string } & Record<string, unknown>) {
    const user = users.get(user_id)
    const before = user && recordsOf(user, name)?.get(id)
    const start = typeof at === 'string' ? Date.parse(at) : before?.at
    if (!user || start === undefined) return
    const uploaded_at = Date.parse(now())
    const { systemTime: _, displayTime: __, ...kept } = before?.fields ?? {}
    if (name === 'egvs') addEgv(user, start, fields, uploaded_at)
    else addEvent(user, { id, at: start, uploaded_at }, { ...kept, eventStatus: before ? 'updated' : 'created', ...fields })
  }

  /** A deleted event stays in lists, with another status. */
  const remove = (user_id: string, name: string, id: string) =>
    name === 'events' ? put(user_id, name, { id, eventStatus: 'deleted' }) : undefined

  const consent = { name: 'Dexcom', path: '/v2/oauth2/login', scopes: ['offline_access'], separator: ' ', accounts: [...users.keys()] }
  const isData = (path: string) => path.startsWith('/v3/users/')
  const deliver = async () => []
  const take = () => []
  const server = await openStandIn({ client, consent, tokens, behavior, port, isData, route, tooMany, put, remove, deliver })
  const { origin } = server
  const servers = { authorize_url: `${origin}/v2/oauth2/login`, token_url: `${origin}/v2/oauth2/token`, api_url: origin }
  return {
    ...{ ...server, behavior, users, tokens, deliver, take, put, remove, shown },
    /** The servers of a region, for OAUTH_SOURCES. */
    servers,
    /** The entry of OAUTH_SOURCES. */
    setting: { ...servers, regions: { us: { name: 'United States', ...servers } }, ...client },
  }
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/
const ZONED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})$/

const fault = (status: number, message: string): Response => ({ status, body: { fault: { faultstring: message } } })
