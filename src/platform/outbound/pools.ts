import { isIP, type LookupFunction } from 'node:net'
import { buildConnector, Pool } from 'undici'
import { isForbidden, type Policy } from './address.ts'
import type { Resolve } from './resolve.ts'

type OutboundOptions = {
  policy: Policy
  resolve: Resolve
  connectTimeoutMs: number
  /** Replaces the system's certificate authorities. */
  ca?: string | undefined
  connections: number
  maxOrigins: number
}

/** Connection pools by origin. The least recently used origin is closed when there are too many; its requests in flight still finish. */
export function openPools(options: OutboundOptions) {
  const pools = new Map<string, Pool>()
  const connect = guardedConnector(options)

  function poolOf(origin: string) {
    const pool = pools.get(origin) ?? newPool(origin, connect, options.connections)
    pools.delete(origin)
    pools.set(origin, pool)
    if (pools.size > options.maxOrigins) closeOldest()
    return pool
  }

  function closeOldest() {
    const [origin, pool] = pools.entries().next().value as [string, Pool]
    pools.delete(origin)
    pool.close().catch(() => {})
  }

  async function close() {
    await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    pools.clear()
  }

  return { poolOf, close, size: () => pools.size }
}

/** The sender enforces one time limit over the whole request. A connection is renewed after five minutes to pick up DNS changes. */
const newPool = (origin: string, connect: buildConnector.connector, connections: number) =>
  new Pool(origin, {
    connect,
    connections,
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 60_000,
    clientTtl: 300_000,
  })

/** Connects to exactly the addresses that were checked, which prevents DNS rebinding. */
function guardedConnector({ policy, resolve, connectTimeoutMs, ca }: OutboundOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: guardedLookup(policy, resolve),
    timeout: connectTimeoutMs,
    allowH2: false,
    minVersion: 'TLSv1.2',
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    rejectUnauthorized: true,
    ...(ca && { ca }),
  })
  return (options, callback) => {
    if (isIP(options.hostname) && isForbidden(options.hostname, policy))
      queueMicrotask(() => callback(errorWithCode('FORBIDDEN_ADDRESS'), null))
    else connect(options, callback)
  }
}

/** One forbidden address rejects the whole name, because a mix suggests an attack. */
export const guardedLookup =
  (policy: Policy, resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    const respond = (addresses: string[]) => {
      if (addresses.length === 0) return callback(errorWithCode('DNS_FAILED'), '')
      if (addresses.some((ip) => isForbidden(ip, policy))) return callback(errorWithCode('FORBIDDEN_ADDRESS'), '')
      const [first = ''] = addresses
      if (options.all)
        callback(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        )
      else callback(null, first, isIP(first))
    }
    resolve(hostname).then(respond, () => callback(errorWithCode('DNS_FAILED'), ''))
  }

export const errorWithCode = (code: string) => Object.assign(new Error(code), { code })
