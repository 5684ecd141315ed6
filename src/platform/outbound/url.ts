import { isIP } from 'node:net'
import { problem } from '../problem.ts'
import { isForbidden, isLoopbackHost, type Policy } from './address.ts'

/** Validates and normalizes a webhook URL. The addresses behind a host name are checked again at every connection. */
export function checkUrl(text: string, policy: Policy) {
  if (!/^[!-~]+$/.test(text) || text.includes('\\'))
    throw urlProblem('malformed', 'Use visible ASCII in url: percent-encode its path and query, and write the host in its xn-- form.')
  const authority = authorityOf(text)
  if (text.includes('#')) throw urlProblem('fragment', 'Remove the # and everything after it from url; a fragment is never sent.')
  if (authority.includes('@'))
    throw urlProblem('credentials', 'Remove the user name and password from url. Set a header on the webhook instead.')
  const url = URL.parse(text)
  if (!url) throw urlProblem('malformed', 'url is not a valid URL. Write it as https://host/path.')
  if (url.protocol !== 'https:' && policy.https_only)
    throw urlProblem('scheme', 'Use an https URL. Production does not deliver over plain http.')
  checkHost(authority, url.hostname, policy)
  checkPort(url)
  return url.href
}

function authorityOf(text: string) {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(text) ?? []
  if (scheme && !/^https?$/i.test(scheme)) throw urlProblem('scheme', 'Use an https URL, or http in the sandbox.')
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? []
  if (!authority) throw urlProblem('malformed', 'Write url as https://host/path.')
  return authority
}

function checkHost(authority: string, hostname: string, policy: Policy) {
  const fault = faultOfHost(authority, hostname, policy)
  if (fault === 'address') throw urlProblem('address', `Webhooks are delivered to public addresses only. ${remedyOfAddress(hostname)}`)
  if (fault) throw urlProblem('host', hostFaults[fault])
}

export const hostFaults = {
  disguised: 'Write the host plainly: a name, an IPv4 address as a.b.c.d, or a shortened IPv6 address in [].',
  invalid: 'The host is not a valid DNS name. Use 1 to 63 characters between dots and no dot at the end.',
}

/** Decimal, octal, hexadecimal or escaped addresses only serve to hide a host, so only the plain form is accepted. */
export function faultOfHost(authority: string, hostname: string, policy: Policy): keyof typeof hostFaults | 'address' | undefined {
  const plainHost = authority.replace(/:\d+$/, '').toLowerCase()
  if (plainHost !== hostname) return 'disguised'
  const ip = hostname.replace(/^\[|\]$/g, '')
  if (isIP(ip)) return isForbidden(ip, policy) ? 'address' : undefined
  const labels = hostname.split('.')
  if (hostname.length > 253 || labels.some((label) => label === '' || label.length > 63)) return 'invalid'
  return isResolvable(labels, policy) ? undefined : 'address'
}

/** Names that never resolve on the public internet are rejected here instead of failing at every delivery. */
function isResolvable(labels: string[], policy: Policy) {
  const last = labels.at(-1) as string
  if (last === 'localhost') return !isForbidden('127.0.0.1', policy)
  const local = labels.length === 1 || last === 'local' || last === 'internal' || labels.slice(-2).join('.') === 'home.arpa'
  return !local || policy.allowed.length > 0
}

/** Ports from 1024 up that browsers block too, because other protocols use them. */
export const portsOfOtherProtocols = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]

function checkPort({ port }: URL) {
  const number = Number(port || 443)
  if ((number < 1024 && number !== 80 && number !== 443) || portsOfOtherProtocols.includes(number))
    throw urlProblem('port', 'Use port 443, 80, or a port above 1023 that no other protocol uses.')
}

/** Names the setting that allows the host. */
export const remedyOfAddress = (hostname: string) =>
  isLoopbackHost(hostname) || hostname.endsWith('.localhost')
    ? 'Use a public host, or ask the operator to allow loopback addresses with WEBHOOK_ALLOW_LOOPBACK=true.'
    : 'Use a public host, or ask the operator to allow the network in WEBHOOK_ALLOWED_NETWORKS.'

type Reason = 'malformed' | 'scheme' | 'fragment' | 'credentials' | 'host' | 'address' | 'port'

const urlProblem = (reason: Reason, message: string) => problem('WEBHOOK_URL_REFUSED', message, { reason })
