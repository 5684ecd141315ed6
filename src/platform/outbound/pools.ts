import { isIP, type LookupFunction } from 'node:net'
import { buildConnector, Pool } from 'undici'
import { isForbidden, type Policy } from './address.ts'
import type { Resolve } from './resolve.ts'

export type OutboundOptions = {
  policy: Policy
  resolve: Resolve
  connectTimeoutMs: number
  /** Instead of the certificate authorities of the system. */
  ca?: string | undefined
  connections: number
  maxOrigins: number
}

export type Pools = ReturnType<typeof openPools>

/** Kept connections by origin. The origin used longest ago is let go when there are too many; what it has under way still ends. */
export function openPools(reach: OutboundOptions) {
  const pools = new Map<string, Pool>()
  const connect = guardedConnector(reach)

  function poolOf(origin: string) {
    const pool = pools.get(origin) ?? newPool(origin, connect, reach.connections)
    pools.delete(origin)
    pools.set(origin, pool)
    if (pools.size > reach.maxOrigins) letGoOldest()
    return pool
  }

  function letGoOldest() {
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

/** Time limits are the sender's: one over everything. A connection is renewed after five minutes, so that changes of DNS arrive. */
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

/** Connects to the very addresses that were judged, so no second answer of a name server counts. */
function guardedConnector({ policy, resolve, connectTimeoutMs, ca }: OutboundOptions): buildConnector.connector {
  const connect = buildConnector({
    lookup: guardedLookup(policy, resolve),
    timeout: connectTimeoutMs,
    allowH2: false,
    minVersion: 'TLSv1.2',
    // Said out loud, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    rejectUnauthorized: true,
    ...(ca && { ca }),
  })
  return (options, callback) => {
    if (isIP(options.hostname) && isForbidden(options.hostname, policy))
      queueMicrotask(() => callback(errorWithCode('FORBIDDEN_ADDRESS'), null))
    else connect(options, callback)
  }
}

/** One forbidden address condemns the name: whoever mixes them tries something. */
export const guardedLookup =
  (policy: Policy, resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    const found = (addresses: string[]) => {
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
    resolve(hostname).then(found, () => callback(errorWithCode('DNS_FAILED'), ''))
  }

export const errorWithCode = (code: string) => Object.assign(new Error(code), { code })
