import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

export type Resolve = (hostname: string) => Promise<string[]>

/**
 * Resolves all addresses of a host. It avoids getaddrinfo, which blocks one of four threads for as long as a name server is slow:
 * a few hostile domains would hold up every delivery and all file access.
 */
export function systemResolve(hostsFile = '/etc/hosts'): Resolve {
  const dns = new Resolver({ timeout: 2000, tries: 2 })
  return async (hostname) => {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const listed = addressesIn(await readFile(hostsFile, 'utf8').catch(() => ''), hostname)
    if (listed.length) return listed
    const answers = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}

/** The addresses of a name in a hosts file. */
export const addressesIn = (text: string, hostname: string) =>
  text.split('\n').flatMap((line) => {
    const [ip = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return isIP(ip) && names.some((name) => name.toLowerCase() === hostname) ? [ip] : []
  })
