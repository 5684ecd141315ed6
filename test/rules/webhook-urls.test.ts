import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ConsoleRole } from '../../src/contract/tenants/sessions.ts'
import { shownUrl, withoutSecrets } from '../../src/delivery/webhooks/rules-urls.ts'
import { isForbidden, type Policy, parseCidr, strictPolicy } from '../../src/platform/outbound/address.ts'
import { checkUrl } from '../../src/platform/outbound/url.ts'

const sandbox: Policy = { https_only: false, allow_loopback: true, allowed: [] }
const opened: Policy = { ...strictPolicy, allowed: [parseCidr('10.0.0.0/8')] }

function reason(url: string, policy: Policy = strictPolicy) {
  try {
    return checkUrl(url, policy)
  } catch (error) {
    const { error_type, reason } = (error as { detail: { error_type: string; reason: string } }).detail
    expect(error_type).toBe('WEBHOOK_URL_REFUSED')
    return reason
  }
}

describe('malicious URLs in production', () => {
  test.each([
    ['https://127.0.0.1/', 'address'],
    ['https://127.0.0.2:8443/', 'address'],
    ['https://0.0.0.0/', 'address'],
    ['https://10.0.0.1/', 'address'],
    ['https://172.16.5.4/', 'address'],
    ['https://192.168.1.1/', 'address'],
    ['https://100.64.0.1/', 'address'],
    ['https://100.100.100.200/latest/meta-data/', 'address'],
    ['https://169.254.169.254/latest/meta-data/', 'address'],
    ['https://168.63.129.16/machine', 'address'],
    ['https://198.18.0.1/', 'address'],
    ['https://224.0.0.1/', 'address'],
    ['https://255.255.255.255/', 'address'],
    ['https://[::1]/', 'address'],
    ['https://[::]/', 'address'],
    ['https://[::ffff:7f00:1]/', 'address'],
    ['https://[::7f00:1]/', 'address'],
    ['https://[fe80::1]/', 'address'],
    ['https://[fd00:ec2::254]/', 'address'],
    ['https://[fc00::1]/', 'address'],
    ['https://[64:ff9b::a9fe:a9fe]/', 'address'],
    ['https://[64:ff9b:1::1]/', 'address'],
    ['https://[2002:7f00:1::]/', 'address'],
    ['https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/', 'address'],
    ['https://[5f00::1]/', 'address'],
    ['https://[ff02::1]/', 'address'],
    ['https://[fe80::1%25eth0]/', 'malformed'],
    ['https://[::ffff:127.0.0.1]/', 'host'],
    ['https://[0:0:0:0:0:0:0:1]/', 'host'],
    ['https://2130706433/', 'host'],
    ['https://0x7f000001/', 'host'],
    ['https://0x7f.0.0.1/', 'host'],
    ['https://0177.0.0.1/', 'host'],
    ['https://127.1/', 'host'],
    ['https://127.0.1/', 'host'],
    ['https://127.0.0.1./', 'host'],
    ['https://0/', 'host'],
    ['https://134744072/', 'host'],
    ['https://127%2e0%2e0%2e1/', 'host'],
    ['https://%31%32%37.0.0.1/', 'host'],
    ['https://loc%61lhost/', 'host'],
    ['https://１２７.0.0.1/', 'malformed'],
    ['https://127。0。0。1/', 'malformed'],
    ['https://ⓛocalhost/', 'malformed'],
    ['https://bücher.example/', 'malformed'],
    ['https://localhost/', 'address'],
    ['https://LOCALHOST/', 'address'],
    ['https://hooks.localhost/', 'address'],
    ['https://localhost./', 'host'],
    ['https://hooks.example.com./', 'host'],
    ['https://metadata.google.internal/computeMetadata/v1/', 'address'],
    ['https://printer.local/', 'address'],
    ['https://router.home.arpa/', 'address'],
    ['https://postgres:5432/', 'address'],
    ['https://kubernetes/', 'address'],
    ['https://a..example.com/', 'host'],
    ['https://.example.com/', 'host'],
    [`https://${'a'.repeat(64)}.example.com/`, 'host'],
    [`https://${'a.'.repeat(130)}com/`, 'host'],
    ['https://xn--a/', 'address'],
    ['https://1.2.3.4.5/', 'malformed'],
    ['https://256.256.256.256/', 'malformed'],
    ['https://[::1/', 'malformed'],
    ['https://[1.2.3.4]/', 'malformed'],
    ['https://exa mple.com/', 'malformed'],
    ['https://exam\tple.com/', 'malformed'],
    ['https://example.com/\r\nHost: evil', 'malformed'],
    ['\u0000https://example.com/', 'malformed'],
    [' https://example.com/', 'malformed'],
    ['https:\\\\127.0.0.1\\', 'malformed'],
    ['https://example.com\\@127.0.0.1/', 'malformed'],
    ['https:/example.com/', 'malformed'],
    ['https:example.com', 'malformed'],
    ['https:///127.0.0.1/', 'malformed'],
    ['https://', 'malformed'],
    ['//example.com/', 'malformed'],
    ['example.com', 'malformed'],
    ['', 'malformed'],
    ['https://user:password@example.com/', 'credentials'],
    ['https://user@example.com/', 'credentials'],
    ['https://@example.com/', 'credentials'],
    ['https://example.com@127.0.0.1/', 'credentials'],
    ['https://127.0.0.1:80@example.com/', 'credentials'],
    ['https://example.com/#fragment', 'fragment'],
    ['https://example.com#@127.0.0.1/', 'fragment'],
    ['http://example.com/', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['data:text/plain,x', 'scheme'],
    ['ws://example.com/', 'scheme'],
    ['unix:/var/run/docker.sock', 'scheme'],
    ['https+unix://example.com/', 'scheme'],
    ['https://example.com:22/', 'port'],
    ['https://example.com:25/', 'port'],
    ['https://example.com:0/', 'port'],
    ['https://example.com:6667/', 'port'],
    ['https://example.com:10080/', 'port'],
    ['https://example.com:65536/', 'malformed'],
    ['https://example.com:-1/', 'malformed'],
    ['https://example.com:443:80/', 'malformed'],
    ['https://example.com:/', 'host'],
  ])('rejects %s for its %s', (url, why) => {
    expect(reason(url)).toBe(why)
  })
})

describe('accepts valid URLs in normalized form', () => {
  test.each([
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['https://Hooks.Example.com/Path?team=1&x=%20', 'https://hooks.example.com/Path?team=1&x=%20'],
    ['https://hooks.example.com:443/', 'https://hooks.example.com/'],
    ['https://hooks.example.com:8443/a', 'https://hooks.example.com:8443/a'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    ['https://[64:ff9b::808:808]/', 'https://[64:ff9b::808:808]/'],
    ['https://my_service.example.com/a/../b', 'https://my_service.example.com/b'],
    ['https://hooks.example.com/user@host', 'https://hooks.example.com/user@host'],
  ])('%s', (url, normalized) => {
    expect(reason(url)).toBe(normalized)
  })
})

describe('outbound policy', () => {
  test.each<[string, Policy, string]>([
    ['http://hooks.example.com/', sandbox, 'http://hooks.example.com/'],
    ['http://localhost:3000/', sandbox, 'http://localhost:3000/'],
    ['http://127.0.0.1:3000/', sandbox, 'http://127.0.0.1:3000/'],
    ['http://[::1]:3000/', sandbox, 'http://[::1]:3000/'],
    ['http://10.0.0.1/', sandbox, 'address'],
    ['http://169.254.169.254/', sandbox, 'address'],
    ['http://receiver:3000/', sandbox, 'address'],
    ['http://user@localhost/', sandbox, 'credentials'],
    ['http://hooks.example.com/', opened, 'scheme'],
    ['https://10.1.2.3/', opened, 'https://10.1.2.3/'],
    ['https://192.168.1.1/', opened, 'address'],
    ['https://receiver:3000/', opened, 'https://receiver:3000/'],
    ['https://hooks.internal/', opened, 'https://hooks.internal/'],
    ['https://localhost/', opened, 'address'],
  ])('%s', (url, policy, expected) => {
    expect(reason(url, policy)).toBe(expected)
  })
})

describe('without secrets', () => {
  test.each([
    ['https://hooks.example.com/in', 'https://hooks.example.com/in'],
    ['https://hooks.example.com/in?token=secret', 'https://hooks.example.com/in?•••'],
    ['https://harbor:secret@hooks.example.com/in', 'https://•••@hooks.example.com/in'],
    ['https://secret@hooks.example.com:8443/in', 'https://•••@hooks.example.com:8443/in'],
    ['https://:secret@hooks.example.com/', 'https://•••@hooks.example.com/'],
    ['https://harbor:secret@hooks.example.com/in?token=secret#secret', 'https://•••@hooks.example.com/in?•••'],
    ['secret', '•••'],
  ])('%s is shown as %s', (url, shown) => {
    expect(withoutSecrets(url)).toBe(shown)
  })

  test('a URL is shown to support and read-only people, and whole to those who manage the team', () => {
    const url = 'https://harbor:secret@hooks.example.com/in?token=secret'
    const shownTo = (role: ConsoleRole) => shownUrl({ console: { role } }, url)
    for (const role of ['support', 'read_only'] as const) expect(shownTo(role)).toBe('https://•••@hooks.example.com/in?•••')
    expect(shownTo('team_admin')).toBe(url)
    expect(shownUrl({}, url)).toBe(url)
  })
})

test('never accepts a forbidden address for any text', () => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6().map((ip) => `[${ip}]`),
    fc.string(),
    fc.nat(0xffffffff).map(String),
  )
  const url = fc.oneof(
    fc.string(),
    fc.webUrl(),
    fc
      .tuple(fc.constantFrom('https://', 'http://', 'HTTPS://', 'https:/'), host, fc.constantFrom('', '/', ':8443/', '/?a#b'))
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(url, fc.constantFrom(strictPolicy, sandbox, opened), (text, policy) => {
      const answer = reason(text, policy)
      if (!answer.includes(':')) return
      const { hostname, protocol, username } = new URL(answer)
      if (/^\[|^[\d.]+$/.test(hostname)) expect(isForbidden(hostname.replace(/^\[|\]$/g, ''), policy)).toBe(false)
      expect([username, protocol === 'https:' || !policy.https_only]).toEqual(['', true])
      expect(reason(answer, policy)).toBe(answer)
    }),
    { numRuns: 3000 },
  )
})
