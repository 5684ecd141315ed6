import type { Config } from '../platform/config.ts'
import { isLoopbackHost } from '../platform/outbound/address.ts'
import { problem } from '../platform/problem.ts'
import { malformedRequest } from './problems/send.ts'

type Received = { headers: { host?: string | undefined }; httpVersion: string }

/**
 * Checks the Host header. RFC 9112 requires a 400 if it is missing or invalid. Gap 392: a service on a loopback address accepts
 * loopback names and the host of PUBLIC_URL only, because a page can let its own name resolve to 127.0.0.1 (DNS rebinding).
 */
export function newHostCheck({ HOST, PUBLIC_URL }: Pick<Config, 'HOST' | 'PUBLIC_URL'>) {
  const publicHost = PUBLIC_URL === undefined ? undefined : nameIn(new URL(PUBLIC_URL).host)
  const isOpen = !isLoopbackHost(HOST)
  return ({ headers: { host }, httpVersion }: Received) => {
    // Browsers always send the header.
    if (host === undefined && httpVersion === '1.0') return
    const name = host === undefined ? undefined : nameIn(host)
    if (name === undefined) throw malformedRequest()
    if (!isOpen && !isLoopbackHost(name) && name !== publicHost) throw unknownHost()
  }
}

/** The name in a host with or without a port. A URL has it in lower case, and addresses in one form. */
function nameIn(host: string) {
  if (/[\s/?#@\\]/.test(host)) return undefined
  return URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '')
}

const unknownHost = () =>
  problem(
    'UNKNOWN_HOST',
    'The service listens on a loopback address and does not know the host in the Host header. Use localhost, or set PUBLIC_URL to the URL of the service.',
  )
