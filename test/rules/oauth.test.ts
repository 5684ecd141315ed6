import { createSecretKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/platform/config.ts'
import * as rules from '../../src/wearables/providers/rules-oauth.ts'

const client: rules.Client = {
  ...{ authorize_url: 'https://source.example/authorize?kind=a', token_url: 'https://source.example/token', revoke_url: undefined },
  ...{
    scopes: ['sleep', 'steps'],
    needs: {},
    allScopes: undefined,
    scope_separator: ' ',
    client_auth: 'basic',
    revoke_auth: 'basic',
    account_field: 'user.id',
  },
  ...{ authorize_params: { prompt: 'consent' }, client_id: 'a b', client_secret: 'ä:+', redirect_uri: 'https://we.example/back' },
}

test('computes the code challenge of RFC 7636, appendix B', () => {
  expect(rules.challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
})

test('derives a 43-character code verifier from the state and the key', () => {
  const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map((bytes) => createSecretKey(bytes))
  if (!first || !second) throw new Error('no keys')
  expect(rules.verifierOf(first, 'state')).toMatch(/^[\w-]{43}$/)
  expect(rules.verifierOf(first, 'state')).toBe(rules.verifierOf(first, 'state'))
  expect(new Set([rules.verifierOf(first, 'state'), rules.verifierOf(first, 'other'), rules.verifierOf(second, 'state')]).size).toBe(3)
})

test('the authorization URL keeps its query and adds the OAuth parameters', () => {
  const url = new URL(rules.authorizeUrl(client, { state: 's', challenge: 'c', scopes: ['sleep', 'steps'] }))
  expect(Object.fromEntries(url.searchParams)).toEqual({
    ...{ kind: 'a', prompt: 'consent', response_type: 'code', client_id: 'a b', redirect_uri: 'https://we.example/back' },
    ...{ scope: 'sleep steps', state: 's', code_challenge: 'c', code_challenge_method: 'S256' },
  })
  const commas = rules.authorizeUrl({ ...client, scope_separator: ',' }, { state: 's', challenge: 'c', scopes: ['a', 'b'] })
  expect(new URL(commas).searchParams.get('scope')).toBe('a,b')
  expect(new URL(rules.authorizeUrl(client, { state: 's', challenge: 'c', scopes: [] })).searchParams.has('scope')).toBe(false)
})

test('sends client credentials in the header or the body, encoded as in RFC 6749', () => {
  const basic = rules.clientRequest(client, { grant_type: 'x' })
  expect(Buffer.from((basic.headers['authorization'] as string).slice('Basic '.length), 'base64').toString()).toBe('a+b:%C3%A4%3A%2B')
  expect(basic.body).toBe('grant_type=x')
  const body = rules.clientRequest({ ...client, client_auth: 'body' }, { grant_type: 'x' })
  expect(body.headers['authorization']).toBeUndefined()
  expect(Object.fromEntries(new URLSearchParams(body.body))).toEqual({ grant_type: 'x', client_id: 'a b', client_secret: 'ä:+' })
})

describe('token response', () => {
  const grantFrom = (response: unknown, requested = ['sleep']) => rules.parseGrant(client, response, requested)

  test('yields tokens, expiry, scopes and account', () => {
    const response = { access_token: 'a', refresh_token: 'r', expires_in: '3600', scope: 'sleep,steps  heart', user: { id: 7 } }
    expect(grantFrom(response)).toEqual({
      ...{ access_token: 'a', refresh_token: 'r', expires_in: 3600, granted: ['sleep', 'steps', 'heart'], external_user_id: '7' },
    })
  })

  test('defaults to the requested scopes', () => {
    expect(grantFrom({ access_token: 'a' })).toEqual({
      ...{ access_token: 'a', refresh_token: null, expires_in: null, granted: ['sleep'], external_user_id: null },
    })
    expect(grantFrom({ access_token: 'a', scope: '' })?.granted).toEqual([])
  })

  test.each([undefined, null, 'text', [], {}, { access_token: '' }, { access_token: 7 }, { access_token: ['a'] }])(
    'is rejected for %j',
    (response) => {
      expect(grantFrom(response)).toBeUndefined()
    },
  )

  test.each([0, -1, 'soon', null, '1e400'])('has no expiry for expires_in %s', (expires_in) => {
    expect(grantFrom({ access_token: 'a', expires_in })?.expires_in).toBeNull()
  })

  test.each([{ user: null }, { user: 'x' }, { user: { id: {} } }, { user: { id: null } }, { user: { id: '' } }, {}])(
    'has no account in %j',
    (more) => {
      expect(grantFrom({ access_token: 'a', ...more })?.external_user_id).toBeNull()
    },
  )
})

test('requests the required and optional scopes of the team, or those of the source', () => {
  expect(rules.scopesToRequest(client, undefined)).toEqual(['sleep', 'steps'])
  expect(rules.scopesToRequest(client, { user_must_grant: ['a', 'b'], user_may_grant: ['b', 'c'] })).toEqual(['a', 'b', 'c'])
  expect(rules.lacksRequiredScopes({ user_must_grant: ['a'], user_may_grant: ['b'] }, ['b'])).toBe(true)
  expect(rules.lacksRequiredScopes({ user_must_grant: ['a'], user_may_grant: ['b'] }, ['a'])).toBe(false)
  expect(rules.lacksRequiredScopes(undefined, [])).toBe(false)
})

describe('OAUTH_SOURCES', () => {
  const read = (text: string) => readConfig({ OAUTH_SOURCES: text }).OAUTH_SOURCES

  test('is a JSON object keyed by source', () => {
    expect(read('{"fitbit":{"client_id":"a","client_secret":"b"}}')).toEqual({ fitbit: { client_id: 'a', client_secret: 'b' } })
    expect(readConfig({}).OAUTH_SOURCES).toEqual({})
  })

  test.each([
    '{',
    '[]',
    '{"pedometer":{}}',
    '{"fitbit":{"token_url":"ftp://x"}}',
    '{"fitbit":{"secret":"x"}}',
    '{"fitbit":{"client_auth":"tls"}}',
  ])('rejects %s without repeating its values', (text) => {
    expect(() => read(text.replace('"x"', '"hush-hush"'))).toThrow(/^OAUTH_SOURCES/)
    expect(() => read(text.replace('"x"', '"hush-hush"'))).not.toThrow(/hush-hush/)
  })
})
