import { isIPv4, isIPv6 } from 'node:net'
import type { Config } from '../config.ts'

type Cidr = { bytes: number[]; bits: number }

/** The addresses that the operator allows in addition to the public internet. */
export type Policy = { https_only: boolean; allow_loopback: boolean; allowed: Cidr[] }

type Outbound = Pick<Config, 'ENVIRONMENT' | 'HOST' | 'WEBHOOK_ALLOWED_NETWORKS' | 'WEBHOOK_ALLOW_LOOPBACK'>

/** Gap 393: a sandbox that others can reach must not call the services of its machine for them. */
export const policyOf = (config: Outbound): Policy => ({
  https_only: config.ENVIRONMENT === 'production',
  allow_loopback: config.WEBHOOK_ALLOW_LOOPBACK ?? (config.ENVIRONMENT === 'sandbox' && isLoopbackHost(config.HOST)),
  allowed: config.WEBHOOK_ALLOWED_NETWORKS.map(parseCidr),
})

export const strictPolicy: Policy = { https_only: true, allow_loopback: false, allowed: [] }

/** Whether outbound requests must not go to the address. Anything that is not a plain address is forbidden, including one with a zone. */
export function isForbidden(ip: string, policy: Policy = strictPolicy) {
  const bytes = bytesOf(ip)
  if (!bytes) return true
  // IPv6-only networks map public IPv4 hosts like this. The embedded address decides, and no setting overrides it.
  if (contains(bytes, nat64)) return isIn(bytes.slice(12), [...alwaysBlocked, ...blocked])
  if (isIn(bytes, alwaysBlocked)) return true
  if (isIn(bytes, policy.allowed) || (policy.allow_loopback && isIn(bytes, loopback))) return false
  return isIn(bytes, blocked)
}

/** Whether a host, without brackets or as a URL writes it, is this machine. */
export function isLoopbackHost(host: string) {
  const bytes = bytesOf(host.replace(/^\[(.*)\]$/, '$1'))
  return bytes ? isIn(bytes, loopback) : host.toLowerCase() === 'localhost'
}

export function parseCidr(text: string): Cidr {
  const [ip = '', bits] = text.split('/')
  const bytes = bytesOf(ip)
  if (!bytes) throw new Error(`${text} is not an IP network`)
  return { bytes, bits: bits === undefined ? bytes.length * 8 : Number(bits) }
}

const isIn = (bytes: number[], networks: Cidr[]) => networks.some((network) => contains(bytes, network))

function contains(bytes: number[], { bytes: base, bits }: Cidr) {
  if (bytes.length !== base.length) return false
  return base.every((byte, i) => {
    const rest = Math.min(8, Math.max(0, bits - i * 8))
    return byte >> (8 - rest) === (bytes[i] as number) >> (8 - rest)
  })
}

function bytesOf(ip: string) {
  if (isIPv4(ip)) return ip.split('.').map(Number)
  if (!isIPv6(ip) || ip.includes('%')) return undefined
  const [head = [], tail] = ip.split('::').map(bytesOfGroups)
  return tail ? [...head, ...Array<number>(16 - head.length - tail.length).fill(0), ...tail] : head
}

const bytesOfGroups = (text: string) =>
  text.split(':').flatMap((group) => {
    if (group === '') return []
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })

const loopback = ['127.0.0.0/8', '::1/128'].map(parseCidr)
const nat64 = parseCidr('64:ff9b::/96')

/** Cloud metadata services, which hand out credentials. No setting allows these. */
const alwaysBlocked = [
  '169.254.0.0/16',
  'fe80::/10',
  '168.63.129.16/32', // Azure, although the range is public
  '100.100.100.200/32', // Alibaba
  '192.0.0.192/32', // Oracle
  'fd00:ec2::/32', // Amazon
  'fd20:ce::/32', // Google
].map(parseCidr)

const blocked = [
  '0.0.0.0/8', // this host
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // class E and broadcast
  // Only 2000::/3 is assigned in IPv6. This excludes loopback, mapped and compatible IPv4, local NAT64, SRv6, ULA and multicast.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
].map(parseCidr)
