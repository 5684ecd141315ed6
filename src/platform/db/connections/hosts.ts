import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { isReadOnly, readOnlyError } from '../errors.ts'

export type Host = { host: string; port: number }

/** The start of a database URL, its hosts, and the rest. A URL object has one host, so the list is split before parsing. */
const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/

/** The URL of each host, such as those of `postgres://assay@db-1:5432,db-2:5432/assay?target_session_attrs=read-write`. */
export function urlsOfHosts(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = parts.exec(url) ?? []
  const [path = '', query = ''] = rest.split('?', 2)
  const given = new URLSearchParams(query)
  // The driver does not support it. With several hosts, connections always go to the one that accepts writes.
  given.delete('target_session_attrs')
  const end = given.size ? `${path}?${given}` : path
  return hosts.split(',').map((host) => start + host + end)
}

/** Of the driver and of PostgreSQL. The driver ignores those it does not know, so a misspelled `sslmode` would turn TLS off. */
const parameters = [
  ...['host', 'port', 'user', 'password', 'target_session_attrs', 'application_name', 'fallback_application_name', 'options'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat', 'client_encoding', 'keepalives'],
  // URLs of cloud providers contain some of these.
  ...['channel_binding', 'connect_timeout', 'keepalives_idle', 'keepalives_interval', 'keepalives_count', 'tcp_user_timeout'],
  ...['gssencmode', 'sslsni', 'load_balance_hosts'],
]
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** Why a database URL cannot be used. An empty host means the local machine, but not in a list. */
export function faultOfDatabaseUrl(url: string) {
  const urls = parts.test(url) ? urlsOfHosts(url) : []
  const isHost = (single: string) => URL.canParse(single) && (urls.length === 1 || new URL(single).hostname !== '')
  if (!urls.length || !urls.every(isHost))
    return 'must be a postgres:// URL, with special characters of the password encoded, such as %23 for #'
  const given = new URLSearchParams(url.split('?', 2)[1])
  const unknown = [...given.keys()].find((name) => !parameters.includes(name))
  if (unknown !== undefined) return `has the unknown parameter ${unknown}`
  if (!sslModes.includes(given.get('sslmode') ?? 'disable')) return `has an unknown sslmode; use one of ${sslModes.join(', ')}`
  return undefined
}

const PROBE_TIMEOUT_MS = 3000
const DEFAULT_PORT = 5432

/** The host that accepts writes. Connections share the result until one of them fails. */
export function writableHost(urls: string[], timeoutMs = PROBE_TIMEOUT_MS) {
  let found: Promise<Host> | undefined
  return {
    find() {
      found ??= firstWritable(urls, timeoutMs).catch((error) => {
        found = undefined
        throw error
      })
      return found
    },
    /** The next connection asks the hosts again. */
    forget() {
      found = undefined
    },
    /** Whether another host accepts writes and this one does not. */
    async hasMoved({ host, port }: Host) {
      const isThis = (url: string) => isDeepStrictEqual(hostOf(url), { host, port })
      const accept = (urls: string[]) =>
        firstWritable(urls, timeoutMs).then(
          () => true,
          () => false,
        )
      return (await accept(urls.filter((url) => !isThis(url)))) && !(await accept(urls.filter(isThis)))
    },
  }
}

export type WritableHost = ReturnType<typeof writableHost>

/** Asks all hosts at once, because one that hangs must not delay the others. */
async function firstWritable(urls: string[], timeoutMs: number): Promise<Host> {
  const checks = urls.map(async (url) => {
    if (!(await acceptsWrites(url, timeoutMs))) throw readOnlyError('No host of DATABASE_URL accepts writes')
    return hostOf(url)
  })
  return Promise.any(checks).catch(({ errors }: AggregateError) => {
    throw errors.find(isReadOnly) ?? errors[0]
  })
}

export type HostState = { host: string; state: 'primary' | 'standby' | 'unreachable' }

/** What each host is now. */
export const describeHosts = (urls: string[]): Promise<HostState[]> =>
  Promise.all(
    urls.map(async (url) => {
      const { host, port } = hostOf(url)
      const state = await acceptsWrites(url, PROBE_TIMEOUT_MS).then(
        (isPrimary) => (isPrimary ? 'primary' : 'standby'),
        () => 'unreachable' as const,
      )
      return { host: `${host}:${port}`, state }
    }),
  )

async function acceptsWrites(url: string, timeoutMs: number) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
    return !(await isStandby(client))
  } finally {
    client.end().catch(() => {})
  }
}

export async function isStandby(client: pg.Client) {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  return rows[0]?.standby
}

function hostOf(url: string): Host {
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || DEFAULT_PORT) }
}
