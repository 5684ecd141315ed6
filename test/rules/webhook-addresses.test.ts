import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/platform/config.ts'
import { isForbidden, type Policy, parseCidr, policyOf, strictPolicy } from '../../src/platform/outbound/address.ts'
import { addressesIn, systemResolve } from '../../src/platform/outbound/resolve.ts'

const v4 = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)).map((bytes) => bytes.join('.'))
const hex = (group: number) => group.toString(16)
const v6 = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }).map((groups) => groups.map(hex).join(':'))
const groupsOf = (ip: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number)
  return `${hex(a * 256 + b)}:${hex(c * 256 + d)}`
}

describe('forbidden address', () => {
  test.each([
    ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
    ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
    ['private', '10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
    ['unique local', 'fc00::1', 'fd12:3456::1', 'fdff:ffff::'],
    ['link-local', '169.254.0.1', '169.254.255.255', 'fe80::1', 'febf::1'],
    ['site-local', 'fec0::1'],
    ['carrier-grade NAT', '100.64.0.1', '100.127.255.255'],
    ['benchmarks', '198.18.0.1', '198.19.255.255', '2001:2::1'],
    ['class E and broadcast', '240.0.0.1', '255.255.255.255'],
    ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
    ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff:ffff::1'],
    ['protocol assignments', '192.0.0.1', '2001:1::1', '2001:10::1', '2001:20::1', '2001:1ff::1'],
    ['6to4', '192.88.99.1', '2002::1', '2002:808:808::1', '2002:7f00:1::'],
    ['Teredo', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['SRv6', '5f00::1', '5f00:ffff::'],
    ['discard', '100::1'],
    ['mapped IPv4', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '0:0:0:0:0:ffff:a9fe:a9fe'],
    ['compatible IPv4', '::127.0.0.1', '::7f00:1', '::8.8.8.8'],
    ['translated IPv4', '::ffff:0:127.0.0.1'],
    ['NAT64 of a forbidden address', '64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.0.0.1', '64:ff9b::168.63.129.16'],
    ['local NAT64', '64:ff9b:1::8.8.8.8'],
    ['never handed out', '4000::1', '6000::1', '8000::1', 'c000::1', 'e000::1', '1fff:ffff::'],
    ['metadata', '169.254.169.254', '169.254.170.2', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'],
    ['with a zone', 'fe80::1%eth0', '2606:4700::1111%1'],
    ['not an address', '', 'localhost', '127.1', '0x7f000001', '2130706433', '010.0.0.1', '1.2.3.4.5', '[::1]', ' 8.8.8.8', '8.8.8.8/32'],
  ])('%s', (_, ...ips) => {
    expect(ips.filter((ip) => !isForbidden(ip))).toEqual([])
  })

  test('allows the public neighbors of forbidden ranges', () => {
    const ips =
      '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255'
    const more =
      '172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255'
    const six =
      '2000::1 2001:200::1 2001:db7::1 2001:db9::1 2003::1 2606:4700::1111 2a00:1450:4001::200e 3fff:1000::1 3ffe::1 64:ff9b::8.8.8.8'
    expect(`${ips} ${more} ${six} 168.63.129.15 8.8.8.8`.split(' ').filter((ip) => isForbidden(ip))).toEqual([])
  })
})

describe('any address', () => {
  const oracle = new BlockList()
  for (const text of ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'])
    oracle.addSubnet(text.split('/')[0] as string, Number(text.split('/')[1]), 'ipv4')

  test('is forbidden if a Node block list contains it, also inside NAT64', () => {
    const near = fc
      .tuple(fc.constantFrom(0, 10, 100, 127, 169, 172, 192), fc.nat(255), fc.nat(255), fc.nat(255))
      .map((bytes) => bytes.join('.'))
    fc.assert(
      fc.property(fc.oneof(v4, near), (ip) => {
        if (oracle.check(ip)) expect(isForbidden(ip)).toBe(true)
        expect(isForbidden(`64:ff9b::${groupsOf(ip)}`)).toBe(isForbidden(ip))
      }),
      { numRuns: 2000 },
    )
  })

  test('is forbidden if embedded in IPv6 in any other way', () => {
    const disguise = fc.constantFrom('::ffff:', '::', '::ffff:0:', '64:ff9b:1::', 'fe80::5efe:')
    fc.assert(fc.property(disguise, v4, (prefix, ip) => isForbidden(prefix + ip) && isForbidden(prefix + groupsOf(ip))))
    fc.assert(fc.property(v4, (ip) => isForbidden(`2002:${groupsOf(ip)}::1`)))
  })

  test('is forbidden if it is IPv6 outside 2000::/3', () => {
    fc.assert(fc.property(v6, (ip) => (Number.parseInt(ip, 16) & 0xe000) === 0x2000 || ip.startsWith('64:ff9b:0:0') || isForbidden(ip)))
  })

  test('is classified regardless of its IPv6 notation', () => {
    fc.assert(
      fc.property(v6, (ip) => {
        const short = new URL(`http://[${ip}]/`).hostname.slice(1, -1)
        const long = ip.split(':').map((group) => group.padStart(4, '0'))
        expect([isForbidden(short), isForbidden(long.join(':').toUpperCase())]).toEqual([isForbidden(ip), isForbidden(ip)])
      }),
      { numRuns: 500 },
    )
  })

  test('is allowed if it is in an open network, except for metadata addresses', () => {
    fc.assert(
      fc.property(v4, fc.nat(32), v4, (base, bits, ip) => {
        const list = new BlockList()
        list.addSubnet(base, bits, 'ipv4')
        const policy = { ...strictPolicy, allowed: [parseCidr(`${base}/${bits}`)] }
        if (list.check(ip))
          expect(isForbidden(ip, policy)).toBe(
            isForbidden(ip) && /^(169\.254\.|168\.63\.129\.16$|100\.100\.100\.200$|192\.0\.0\.192$)/.test(ip),
          )
        else expect(isForbidden(ip, policy)).toBe(isForbidden(ip))
      }),
      { numRuns: 2000 },
    )
  })

  test('returns a boolean for any text', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof isForbidden(text) === 'boolean'))
  })
})

describe('networks the operator opens', () => {
  const open = (env: Record<string, string>): Policy => policyOf(readConfig({ ENCRYPTION_KEY: 'x'.repeat(32), ...env }))
  const production = { ENVIRONMENT: 'production' }

  test.each<[string, Record<string, string>, string, boolean]>([
    ['sandbox allows loopback', {}, '127.0.0.1', false],
    ['sandbox allows IPv6 loopback', {}, '::1', false],
    ['sandbox forbids mapped loopback', {}, '::ffff:127.0.0.1', true],
    ['sandbox forbids loopback through NAT64', {}, '64:ff9b::127.0.0.1', true],
    ['sandbox forbids private networks', {}, '10.0.0.1', true],
    ['sandbox forbids loopback if WEBHOOK_ALLOW_LOOPBACK is false', { WEBHOOK_ALLOW_LOOPBACK: 'false' }, '127.0.0.1', true],
    ['a sandbox on another loopback address allows loopback', { HOST: '[::1]' }, '127.0.0.1', false],
    ['a sandbox on localhost allows loopback', { HOST: 'localhost' }, '127.0.0.1', false],
    ['a sandbox that others can reach forbids loopback', { HOST: '0.0.0.0' }, '127.0.0.1', true],
    ['a sandbox that others can reach forbids IPv6 loopback', { HOST: '::' }, '::1', true],
    [
      'a sandbox that others can reach allows loopback if WEBHOOK_ALLOW_LOOPBACK is true',
      { HOST: '0.0.0.0', WEBHOOK_ALLOW_LOOPBACK: 'true' },
      '127.0.0.1',
      false,
    ],
    ['production forbids loopback', production, '127.0.0.1', true],
    ['production allows loopback if WEBHOOK_ALLOW_LOOPBACK is true', { ...production, WEBHOOK_ALLOW_LOOPBACK: 'true' }, '127.0.0.1', false],
    [
      'production allows an opened private network',
      { ...production, WEBHOOK_ALLOWED_NETWORKS: '10.20.0.0/16, fd12::/48' },
      '10.20.255.1',
      false,
    ],
    ['production allows an opened IPv6 network', { ...production, WEBHOOK_ALLOWED_NETWORKS: '10.20.0.0/16, fd12::/48' }, 'fd12::9', false],
    [
      'production forbids the neighbor of an opened network',
      { ...production, WEBHOOK_ALLOWED_NETWORKS: '10.20.0.0/16' },
      '10.21.0.1',
      true,
    ],
    ['metadata stays forbidden', { WEBHOOK_ALLOWED_NETWORKS: '0.0.0.0/0,::/0' }, '169.254.169.254', true],
    ['IPv6 metadata stays forbidden', { WEBHOOK_ALLOWED_NETWORKS: '0.0.0.0/0,::/0' }, 'fd00:ec2::254', true],
    ['metadata at a public address stays forbidden', { WEBHOOK_ALLOWED_NETWORKS: '168.63.129.16/32' }, '168.63.129.16', true],
  ])('%s', (_, env, ip, forbidden) => {
    expect(isForbidden(ip, open(env))).toBe(forbidden)
  })

  test('production requires https', () => {
    expect([open(production).https_only, open({}).https_only]).toEqual([true, false])
  })
})

test('reads a hosts file regardless of spaces, case and comments', () => {
  const text =
    '127.0.0.1\tlocalhost\n# 10.0.0.9 hooks.example.com\n 10.0.0.1  a Hooks.Example.com # hooks\nfd12::1 hooks.example.com\nx hooks.example.com\n'
  expect(addressesIn(text, 'hooks.example.com')).toEqual(['10.0.0.1', 'fd12::1'])
  expect(addressesIn(text, 'hooks')).toEqual([])
})

test('resolves localhost first, then the hosts file, then DNS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hosts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'hosts'), '10.0.0.1 receiver.invalid localhost\n')
  const resolve = systemResolve(join(folder, 'hosts'))
  expect(await resolve('receiver.invalid')).toEqual(['10.0.0.1'])
  expect(await resolve('localhost')).toEqual(['127.0.0.1', '::1'])
  expect(await resolve('hooks.localhost')).toEqual(['127.0.0.1', '::1'])
})
