import type { Policy } from '../../platform/outbound/address.ts'
import { faultOfHost, hostFaults, otherProtocols } from '../../platform/outbound/url.ts'
import { problem } from '../../platform/problem.ts'

/** A broker as it is connected to. `vhost` is still percent-encoded. */
export type Broker = { secure: boolean; hostname: string; port: number; username: string; password: string; vhost: string }

const HIDDEN = '***:***@'
const written = /^(amqps?):\/\/(?:([^/@]*)@)?([^/?#@]+)(\/[^?#]*)?$/i

/** The broker that a URI names. Its host is judged like that of a webhook, again by its addresses at every connection. */
export function brokerOf(uri: string, policy: Policy): Broker {
  if (!/^[!-~]+$/.test(uri) || uri.includes('\\'))
    throw refused('malformed', 'Write the URI in visible ASCII, and percent-encode the rest.')
  if (/[?#]/.test(uri)) throw refused('query', 'Leave out ? and # with what follows; there are no options to set.')
  const [, scheme, credentials, authority, path = ''] = written.exec(uri) ?? []
  if (!scheme || !authority)
    throw refused('malformed', 'Write the URI as amqps://user:password@host:port/vhost, percent-encoded where needed.')
  const secure = scheme.toLowerCase() === 'amqps'
  if (!secure && policy.https_only) throw refused('scheme', 'In production pipelines go to amqps only.')
  return { secure, ...targetOf(authority, secure, policy), ...credentialsOf(credentials), vhost: path.slice(1) }
}

function targetOf(authority: string, secure: boolean, policy: Policy) {
  // Of amqp: the parser knows nothing, and would let a host in disguise pass.
  const url = URL.parse(`https://${authority}`)
  if (!url) throw refused('host', hostFaults.disguised)
  const fault = faultOfHost(authority, url.hostname, policy)
  if (fault === 'address') throw refused('address', notPublic)
  if (fault) throw refused('host', hostFaults[fault])
  const port = Number(/:(\d+)$/.exec(authority)?.[1] ?? (secure ? 5671 : 5672))
  if ((port < 1024 && port !== 443) || otherProtocols.includes(port))
    throw refused('port', 'Use port 443, or one from 1024 on that no other protocol has.')
  return { hostname: url.hostname.replace(/^\[|\]$/g, ''), port }
}

function credentialsOf(text = '') {
  const [username, password, ...more] = text.split(':').map(plain)
  if (!username || !password || more.length || `${text}@` === HIDDEN)
    throw refused('credentials', 'Write user and password into the URI, percent-encoded: amqps://user:password@host/vhost.')
  return { username, password }
}

function plain(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** The URI as it is answered. */
export const hidePassword = (uri: string) => uri.replace(/\/\/[^/@]*@/, `//${HIDDEN}`)

/** A URI that comes back as it was answered means the one that is kept. */
export const restorePassword = (sent: string, kept: string | undefined) => (kept && sent === hidePassword(kept) ? kept : sent)

const notPublic =
  'Pipelines go to public addresses only. Use a public host; whoever operates the service can open networks with WEBHOOK_ALLOWED_NETWORKS.'

type Reason = 'malformed' | 'query' | 'scheme' | 'host' | 'address' | 'port' | 'credentials'

const refused = (reason: Reason, message: string) => problem('BROKER_URI_REFUSED', message, { reason })
