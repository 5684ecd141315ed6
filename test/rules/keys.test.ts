import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import * as rules from '../../src/tenants/keys/rules.ts'
import { newUuid } from '../support/seeded.ts'

const errorTypeOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return (error as { detail: { error_type: string } }).detail.error_type
  }
  return 'nothing'
}

test('a key is its prefix and 46 random characters, including the checksum', () => {
  const secrets = Array.from({ length: 200 }, () => rules.newSecret('sk_us_'))
  for (const secret of secrets) expect(secret).toMatch(/^sk_us_[0-9A-Za-z]{46}$/)
  expect(new Set(secrets).size).toBe(200)
})

test.each(['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', newUuid()])(
  'a token names its team %s',
  (team_id) => {
    const secret = rules.newTeamSecret('at_', team_id)
    expect(secret).toMatch(/^at_[0-9A-Za-z]{68}$/)
    expect(rules.teamOfSecret(secret)).toBe(team_id)
    expect(rules.newTeamSecret('at_', team_id)).not.toBe(secret)
  },
)

test('a derived token names its team, and the same bytes give the same token', () => {
  const team_id = newUuid()
  const derived = (fill: number) => rules.derivedTeamSecret('at_', team_id, Buffer.alloc(40, fill))
  expect(derived(1)).toMatch(/^at_[0-9A-Za-z]{68}$/)
  expect([rules.teamOfSecret(derived(1)), derived(1)]).toEqual([team_id, derived(1)])
  expect(derived(2)).not.toBe(derived(1))
})

test('a malformed token names no team', () => {
  const secret = rules.newTeamSecret('at_', newUuid())
  const zeros = '0'.repeat(68)
  for (const malformed of [
    '',
    'at_',
    zeros,
    `at_${zeros}`,
    secret.slice(0, -1),
    `${secret}0`,
    secret.replace('at_', 'ut_'),
    rules.newSecret('at_'),
  ])
    expect(rules.teamOfSecret(malformed)).toBeUndefined()
})

test('shows only the first characters of a key', () => {
  const secret = rules.newSecret('mg_')
  expect(rules.prefixOf(secret)).toBe(secret.slice(0, 12))
  expect(rules.prefixOf('fixed-key')).toBe('fixe')
  expect(rules.maskKey('mg_abc')).toBe('mg_abc…')
})

test('a key is stored as its SHA-256 hash', () => {
  expect(rules.hashSecret('mg_x').toString('hex')).toBe(createHash('sha256').update('mg_x').digest('hex'))
})

test.each([
  ['sk_us_abc', 'sandbox us'],
  ['sk_eu_abc', 'sandbox eu'],
  ['pk_us_abc', 'production us'],
  ['pk_eu_abc', 'production eu'],
  ['mg_abc', undefined],
  ['at_abc', undefined],
  ['sk_uk_abc', undefined],
  ['xsk_us_abc', undefined],
  ['', undefined],
])('key %s belongs to deployment %s', (secret, name) => {
  expect(rules.deploymentOfKey(secret)).toBe(name)
})

test.each([
  ['lks_us_abc', 'sandbox us'],
  ['lkp_eu_abc', 'production eu'],
  ['lk_us_abc', undefined],
  ['sk_us_abc', undefined],
  ['xlks_us_abc', undefined],
])('lab key %s belongs to deployment %s', (secret, name) => {
  expect([rules.deploymentOfLabKey(secret), rules.isLabKey(secret)]).toEqual([name, name !== undefined])
})

test('a lab key is not a team key', () => {
  expect(rules.deploymentOfKey('lks_us_abc')).toBeUndefined()
})

describe('team bindings of a management key', () => {
  test.each([
    ['org_admin', undefined, 'nothing'],
    ['org_admin', ['a'], 'TEAM_BINDINGS_NOT_ALLOWED'],
    ['team_admin', ['a', 'b'], 'nothing'],
    ['team_admin', [], 'TEAM_BINDINGS_REQUIRED'],
    ['team_admin', undefined, 'TEAM_BINDINGS_REQUIRED'],
  ])('%s with teams %j fails with %s', (role, team_ids, reason) => {
    expect(errorTypeOf(() => rules.checkBindings(role, team_ids))).toBe(reason)
  })
})

describe('key expiry', () => {
  const now = '2026-03-01T12:00:00.000Z'
  test.each([
    [undefined, 'nothing'],
    [null, 'nothing'],
    ['2026-03-01T12:00:00.001Z', 'nothing'],
    ['2026-03-01T13:30:00+01:00', 'nothing'],
    [now, 'EXPIRY_IN_THE_PAST'],
    ['2026-03-01T13:00:00+02:00', 'EXPIRY_IN_THE_PAST'],
  ])('%s fails with %s', (expires_at, reason) => {
    expect(errorTypeOf(() => rules.checkExpiry(expires_at, now))).toBe(reason)
  })
})

test.each([
  ['2026-03-01T12:00:00Z', null, '2026-03-01T12:00:00Z'],
  ['2026-03-01T12:00:00Z', '2026-03-01T12:00:01Z', '2026-03-01T12:00:00Z'],
  ['2026-03-01T12:00:00Z', '2026-03-01T12:30:00+01:00', '2026-03-01T12:30:00+01:00'],
])('a rotated key that should expire at %s, and would expire at %s, expires at %s', (chosen, current, expected) => {
  expect(rules.earlier(chosen, current)).toBe(expected)
})
