import type { KeyObject } from 'node:crypto'
import { isId } from '../../contract/common.ts'
import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { HOUR, later } from '../../platform/time.ts'
import { parseSecret, signingKey } from './sign.ts'
import * as store from './store.ts'

/** The secrets of a webhook, encrypted as one document with the team's key. */
export type Secrets = {
  /** Newest first. A key with `until` signs until then. */
  keys: { key: string; until: string | null }[]
  /** Ed25519 key pairs in the same form; empty if only secrets sign. */
  pairs?: { private_key: string; until: string | null }[]
  headers: Record<string, string>
  sensitive: string[]
  url: string
}

export type Endpoint = Omit<store.WebhookRow, 'sealed'> & {
  url: string
  secrets: KeyObject[]
  private_keys: string[]
  headers: Record<string, string>
  /** `headers` with sensitive values hidden. */
  shown_headers: Record<string, string>
}

const associatedData = (id: string) => `webhooks.sealed.${id}`

export const sealSecrets = async (app: App, { id, team_id }: { id: string; team_id: string }, secrets: Secrets) =>
  seal(await teamSealingKey(app, team_id), associatedData(id), secrets)

export const openSecrets = async (app: App, { id, team_id, sealed }: { id: string; team_id: string; sealed: Buffer }) =>
  open<Secrets>(await teamSealingKey(app, team_id), associatedData(id), sealed)

/** The URLs of a few enabled webhooks of any team. */
export async function listSomeUrls(app: App, limit: number) {
  const webhooks = await store.listEnabled(app.db, limit)
  return Promise.all(webhooks.map(async (webhook) => (await openSecrets(app, webhook)).url))
}

const OVERLAP_MS = 24 * HOUR
const MAX_OLD_KEYS = 9

type WithExpiry = { until: string | null }

/** The keys that sign at `now`. */
export const keysValidAt = <K extends WithExpiry>(keys: K[], now: string) => keys.filter(({ until }) => !until || until > now)

/** The old keys that keep signing after a rotation. Only the newest do, because receivers limit the header's length. */
export const oldKeysAfterRotation = <K extends WithExpiry>(keys: K[], now: string) =>
  keysValidAt(keys, now)
    .slice(0, MAX_OLD_KEYS)
    .map((key) => ({ ...key, until: key.until ?? later(now, OVERLAP_MS) }))

const HIDDEN = '(hidden)'

type OpenedEndpoint = Omit<Endpoint, 'secrets' | 'private_keys'> & {
  keys: { secret: KeyObject; until: string | null }[]
  pairs: NonNullable<Secrets['pairs']>
}

const CACHE_LIMIT = 2000

/** Webhooks, each at one revision of its row. Decrypting one costs more than sending a message. */
const webhookCache = declareCache(() => new Map<string, OpenedEndpoint>())

/** Webhooks of a team by ID, ready for sending. The cache serves only matching revisions. */
export async function endpointsOf(
  app: App,
  team_id: string,
  webhooks: { webhook_id: string; revision?: number }[],
): Promise<Map<string, Endpoint>> {
  const cache = webhookCache(app)
  const revisions = new Map(webhooks.map(({ webhook_id, revision }) => [webhook_id, revision]))
  // This call keeps its own references, because another may clear the cache while it waits.
  const endpoints = new Map<string, OpenedEndpoint>()
  for (const [id, revision] of revisions) {
    const cached = cache.get(`${team_id}/${id}`)
    if (cached && cached.revision === revision) endpoints.set(id, cached)
  }
  const missing = [...revisions.keys()].filter((id) => !endpoints.has(id))
  if (cache.size + missing.length > CACHE_LIMIT) cache.clear()
  const loaded = missing.length ? await store.findByIds(app.db, team_id, missing) : []
  for (const row of loaded) {
    const opened = await openEndpoint(app, row)
    endpoints.set(row.id, opened)
    cache.set(`${team_id}/${row.id}`, opened)
  }
  const now = app.wall()
  return new Map([...endpoints].map(([id, endpoint]) => [id, endpointAt(endpoint, now)]))
}

/** The host that a webhook posts to. */
export const receiverOf = ({ url }: Pick<Endpoint, 'url'>) => new URL(url).host

/** The host of a webhook of a team. Undefined if the team does not have it. */
export async function findReceiver(app: App, team_id: string, webhook_id: string) {
  if (!isId(webhook_id)) return undefined
  const endpoint = (await endpointsOf(app, team_id, [{ webhook_id }])).get(webhook_id)
  return endpoint && !endpoint.inbox ? receiverOf(endpoint) : undefined
}

async function openEndpoint(app: App, { sealed, ...row }: store.WebhookRow): Promise<OpenedEndpoint> {
  const { keys, pairs = [], headers, sensitive, url } = await openSecrets(app, { ...row, sealed })
  const hidden = Object.fromEntries(sensitive.map((name) => [name, HIDDEN]))
  return {
    ...row,
    url,
    keys: keys.map(({ key, until }) => ({ secret: signingKey(parseSecret(key)), until })),
    pairs,
    headers,
    shown_headers: { ...headers, ...hidden },
  }
}

const endpointAt = ({ keys, pairs, ...endpoint }: OpenedEndpoint, now: string): Endpoint => ({
  ...endpoint,
  secrets: keysValidAt(keys, now).map(({ secret }) => secret),
  private_keys: keysValidAt(pairs, now).map(({ private_key }) => private_key),
})
