import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { html } from '../../src/platform/html.ts'
import { drawLogo } from '../../src/tenants/sources/rules-logo.ts'
import { availabilityOf } from '../../src/wearables/connections/rules.ts'
import * as rules from '../../src/wearables/link/rules.ts'
import { signIn, signInByEmail } from '../../src/wearables/providers/rules-simulated.ts'
import { maskCredential, narrowTeams } from '../../src/wearables/team-sources/rules.ts'

const now = '2026-03-01T09:30:00.000Z'
const good = { expires_at: '2026-03-01T09:30:00.001Z', consumed_at: null }

test.each([
  [good, undefined],
  [undefined, 'invalid_token'],
  [{ ...good, expires_at: now }, 'token_expired'],
  [{ ...good, consumed_at: now }, 'token_consumed'],
  [{ expires_at: now, consumed_at: now }, 'token_consumed'],
])('token %j fails with %s', (token, why) => {
  expect(rules.tokenFailure(token, now)).toBe(why)
})

describe('return URL', () => {
  test('keeps the query and fragment of the customer', () => {
    expect(rules.returnUrl('https://shop.example/a?b=c#d', rules.linkSucceeded)).toBe('https://shop.example/a?b=c&state=success#d')
  })

  test('overwrites the state and error_type parameters', () => {
    const url = new URL(rules.returnUrl('https://shop.example/?state=success&error_type=none', rules.linkFailed('token_expired')))
    expect(url.searchParams.getAll('state')).toEqual(['error'])
    expect(url.searchParams.getAll('error_type')).toEqual(['token_expired'])
  })

  test('always keeps the origin', () => {
    fc.assert(
      fc.property(
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        fc.constantFrom(...(Object.keys(rules.linkErrors) as rules.LinkError[])),
        (url, error) => {
          expect(new URL(rules.returnUrl(url, rules.linkFailed(error))).origin).toBe(new URL(url).origin)
        },
      ),
    )
  })
})

test.each([
  [{ provider: null, filter_on_providers: null }, 41],
  [{ provider: null, filter_on_providers: ['oura', 'fitbit'] }, 2],
  [{ provider: 'oura', filter_on_providers: ['fitbit'] }, 1],
  [{ provider: null, filter_on_providers: ['a source of the past'] }, 0],
])('a token for %j allows %i sources', (token, count) => {
  expect(rules.sourcesOf(token)).toHaveLength(count)
})

describe('resource availability', () => {
  const needs = { sleep: ['sleep'], steps: ['activity', 'location'] }

  test('covers everything if scopes are unknown', () => {
    expect(new Set(Object.values(availabilityOf('fitbit')).map(({ status }) => status))).toEqual(new Set(['available']))
  })

  test('requires every scope of a resource', () => {
    const availabilityFor = (granted: string[]) => availabilityOf('fitbit', { granted, denied: ['location'], needs })
    expect(availabilityFor(['activity'])['steps']).toEqual({
      status: 'unavailable',
      scope_requirements: { user_granted: { required: ['activity'], optional: [] }, user_denied: { required: ['location'], optional: [] } },
    })
    expect(availabilityFor(['activity', 'location'])['steps']?.status).toBe('available')
    expect(availabilityFor([])['profile']?.status).toBe('available')
  })
})

test('the sandbox has a password for every outcome and accepts any other', () => {
  const states = ['wrong', 'expired', 'unavailable', 'elsewhere', 'mfa', 'constructor', 'Wrong'].map((password) =>
    signIn({ username: 'a', password }),
  )
  expect(states.map((result) => (result.state === 'error' ? result.error_type : result.state))).toEqual([
    ...[
      'provider_credential_error',
      'provider_password_expired',
      'provider_api_error',
      'unsupported_region',
      'mfa',
      'connected',
      'connected',
    ],
  ])
  expect(signInByEmail('expired@example.org')).toEqual({ state: 'error', error_type: 'provider_password_expired' })
  expect(signIn({ username: ' Rider ', password: 'a' })).toEqual(signIn({ username: 'rider', password: 'b' }))
})

test('HTML templates escape every value', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const inside = html`<p title="${text}">${text}</p>`.html.slice('<p title="'.length, -'</p>'.length)
      expect(inside.replace('">', '')).not.toMatch(/[<>"']/)
    }),
  )
  expect(html`${[html`<b>${1}</b>`, '&']}${null}${false}${undefined}`.html).toBe('<b>1</b>&amp;')
})

test('a logo is one letter and deterministic', () => {
  expect(drawLogo('oura', 'Oura')).toBe(drawLogo('oura', 'Oura'))
  expect(drawLogo('x', '"<Tidemark>"')).toMatch(/aria-label="Tidemark".*>T<\/text>/)
})

test('masks secrets in credential details at any depth', () => {
  const details = {
    ...{ client: 'shop', fitbit: { verify_token: 'a', deep: { webhook_secret: 'b', on: true } }, list: ['x'], api_key: null },
    ...{ apps: [{ name: 'one', client_secret: 'c' }, [{ password: 'd' }]], tokens: { live: 'e' }, secrets: ['f'] },
  }
  expect(maskCredential(details)).toEqual({
    client: 'shop',
    fitbit: { verify_token: '…', deep: { webhook_secret: '…', on: true } },
    list: ['x'],
    api_key: null,
    apps: [{ name: 'one', client_secret: '…' }, [{ password: '…' }]],
    tokens: '…',
    secrets: '…',
  })
})

test.each([
  [undefined, undefined, undefined],
  [['a'], undefined, ['a']],
  [undefined, ['b'], ['b']],
  [['a'], ['b'], []],
  [['a', 'b'], ['b'], ['b']],
  [['a'], [], ['a']],
])('narrows %j by %j to %j', (visible, requested, expected) => {
  expect(narrowTeams(visible, requested)).toEqual(expected)
})
