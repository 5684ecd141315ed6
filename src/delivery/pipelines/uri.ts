import type { Policy } from '../../platform/outbound/address.ts'
import { faultOfHost, hostFaults, portsOfOtherProtocols, remedyOfAddress } from '../../platform/outbound/url.ts'
import { problem } from '../../platform/problem.ts'

/** A broker's address and login. `vhost` is still percent-encoded. */
export type Broker = { secure: boolean; hostname: string; port: number; username: string; password: string; vhost: string }

const HIDDEN = '***:***@'
const pattern = /^(amqps?):\/\/(?:([^/@]*)@)?([^/?#@]+)(\/[^?#]*)?$/i

/** Parses a broker URI. Its host is checked like a webhook's, and its addresses again at every connection. */
export function brokerOf(uri: string, policy: Policy): Broker {
  if (!/^[!-~]+$/.test(uri) || uri.includes('\\'))
    throw uriProblem('malformed', 'Use visible ASCII in uri and percent-encode everything else.')
  if (/[?#]/.test(uri)) throw uriProblem('query', 'Remove ? and # and everything after them from uri; it takes no options.')
  const [, scheme, credentials, authority, path = ''] = pattern.exec(uri) ?? []
  if (!scheme || !authority)
    throw uriProblem('malformed', 'Write uri as amqps://user:password@host:port/vhost, percent-encoded where needed.')
  const secure = scheme.toLowerCase() === 'amqps'
  if (!secure && policy.https_only) throw uriProblem('scheme', 'Use an amqps URI. Production does not publish over plain amqp.')
  return { secure, ...targetOf(authority, secure, policy), ...credentialsOf(credentials), vhost: path.slice(1) }
}

function targetOf(authority: string, secure: boolean, policy: Policy) {
  // The URL parser does not normalize amqp hosts, so a disguised address would pass.
  const url = URL.parse(`https://${authority}`)
  if (!url) throw uriProblem('host', hostFaults.disguised)
  const fault = faultOfHost(authority, url.hostname, policy)
  if (fault === 'address') throw uriProblem('address', `Pipelines publish to public addresses only. ${remedyOfAddress(url.hostname)}`)
  if (fault) throw uriProblem('host', hostFaults[fault])
  const port = Number(/:(\d+)$/.exec(authority)?.[1] ?? (secure ? 5671 : 5672))
  if ((port < 1024 && port !== 443) || portsOfOtherProtocols.includes(port))
    throw uriProblem('port', 'Use port 443, or a port above 1023 that no other protocol uses.')
  return { hostname: url.hostname.replace(/^\[|\]$/g, ''), port }
}

function credentialsOf(text = '') {
  const [username, password, ...more] = text.split(':').map(decode)
  if (!username || !password || more.length || `${text}@` === HIDDEN)
    throw uriProblem('credentials', 'Include the user name and password in uri, percent-encoded: amqps://user:password@host/vhost.')
  return { username, password }
}

function decode(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** The URI with its password hidden, as responses show it. */
export const hidePassword = (uri: string) => uri.replace(/\/\/[^/@]*@/, `//${HIDDEN}`)

/** A URI sent back with its password hidden keeps the stored one. */
export const restorePassword = (uri: string, stored: string | undefined) => (stored && uri === hidePassword(stored) ? stored : uri)

type Reason = 'malformed' | 'query' | 'scheme' | 'host' | 'address' | 'port' | 'credentials'

const uriProblem = (reason: Reason, message: string) => problem('BROKER_URI_REFUSED', message, { reason })
