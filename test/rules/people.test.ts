import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { personRoles } from '../../src/contract/common.ts'
import { checkPassword, formatRecoveryCode, guessableWords, normalizeCode, teamScopeOf } from '../../src/tenants/people/rules.ts'
import { codeAt, findStep, fromBase32, stepAt, toBase32 } from '../../src/tenants/people/rules-totp.ts'

describe('TOTP code', () => {
  const secret = Buffer.from('12345678901234567890')

  test.each([
    ['1970-01-01T00:00:59Z', '94287082'],
    ['2005-03-18T01:58:29Z', '07081804'],
    ['2005-03-18T01:58:31Z', '14050471'],
    ['2009-02-13T23:31:30Z', '89005924'],
    ['2033-05-18T03:33:20Z', '69279037'],
    ['2603-10-11T11:33:20Z', '65353130'],
  ])('matches RFC 6238 at %s', (now, code) => {
    expect(codeAt(secret, stepAt(now), 8)).toBe(code)
  })

  const now = '2026-03-01T12:00:15Z'
  const at = (shift: number) => codeAt(secret, stepAt(now) + shift)

  test.each([
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
  ])('of %i steps away is accepted: %s', (shift, isAccepted) => {
    expect(findStep(secret, at(shift), now, 0)).toBe(isAccepted ? stepAt(now) + shift : undefined)
  })

  test('is rejected once it or a later one was used', () => {
    const used = stepAt(now)
    expect(findStep(secret, at(0), now, used)).toBeUndefined()
    expect(findStep(secret, at(-1), now, used)).toBeUndefined()
    expect(findStep(secret, at(1), now, used)).toBe(used + 1)
  })

  test('may contain a space', () => {
    expect(findStep(secret, `${at(0).slice(0, 3)} ${at(0).slice(3)}`, now, 0)).toBe(stepAt(now))
  })

  test('has a secret in RFC 4648 base32 that decodes to the same bytes', () => {
    expect(toBase32(Buffer.from('foobar'))).toBe('MZXW6YTBOI')
    fc.assert(fc.property(fc.uint8Array(), (bytes) => fromBase32(toBase32(Buffer.from(bytes))).equals(Buffer.from(bytes))))
  })
})

test('a recovery code ignores case, spaces and the dash', () => {
  const code = formatRecoveryCode('ABCDE23456ZZ')
  expect(code).toBe('abcde-23456')
  for (const typed of [code, 'ABCDE-23456', 'abcde 23456', ' abcde23456 ']) expect(normalizeCode(typed)).toBe('abcde23456')
})

describe('password', () => {
  test('needs twelve characters, counted as a person counts them', () => {
    expect(() => checkPassword('海と灯台と静かな夜と星', 'zoe@clinic.example')).toThrow('needs at least 12 characters')
    expect(() => checkPassword('海と灯台と静かな夜と星と', 'zoe@clinic.example')).not.toThrow()
  })

  test('must not contain the name in the email', () => {
    expect(() => checkPassword('my name is Zoe-12, hello', 'zoe12@clinic.example')).toThrow('must not contain the name in your email')
  })

  test('is compared with the words of the account', () => {
    expect(guessableWords({ email: 'zoe.lantern@clinic.example', org_name: 'Harbor Health' })).toEqual(
      expect.arrayContaining(['assay', 'Harbor Health', 'zoe', 'lantern', 'clinic', 'Harbor', 'Health']),
    )
  })
})

test.each(personRoles)('%s gets the team scope of its role', (role) => {
  const outcome = (ids: string[] | undefined) => {
    try {
      const { every_team, team_ids } = teamScopeOf(role, ids)
      return every_team ? 'every' : team_ids.length
    } catch {
      return 'refused'
    }
  }
  const expected = {
    org_admin: ['every', 'refused'],
    team_admin: ['refused', 1],
    support: ['every', 1],
    read_only: ['every', 1],
    no_role: [0, 'refused'],
  }
  expect([outcome(undefined), outcome(['t'])]).toEqual(expected[role])
})
