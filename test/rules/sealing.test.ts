import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { indexTerms, queryTerms, wordsOf } from '../../src/platform/sealing/blind-index.ts'
import { newFirstRoot, unwrapRoots } from '../../src/platform/sealing/roots.ts'
import { derive, keyIdOf, open, openBytes, seal, sealBytes, sealingKey } from '../../src/platform/sealing/seal.ts'
import { newSealingKey, newVault, unwrap } from '../../src/platform/sealing/vault.ts'
import { textKeys } from '../support/key-encryption.ts'
import { people } from '../support/people.ts'
import { newBytes, newUuid } from '../support/seeded.ts'

const aKey = () => sealingKey(newUuid(), newBytes(32))
const key = aKey()
const associatedData = 'user_info.sealed.7'

describe('encrypted document', () => {
  test('decrypts any JSON with its associated data', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        const plain = JSON.parse(JSON.stringify({ document }))
        expect(open(key, associatedData, seal(key, associatedData, plain))).toEqual(plain)
      }),
    )
  })
  test('carries its version and the ID of its key', () => {
    const sealed = seal(key, associatedData, people[0])
    expect(sealed[0]).toBe(1)
    expect(keyIdOf(sealed)).toBe(key.id)
  })
  test('never encrypts to the same bytes twice', () => {
    expect(seal(key, associatedData, people[0])).not.toEqual(seal(key, associatedData, people[0]))
  })
  test('contains no plain text', () => {
    const text = seal(key, associatedData, people[0]).toString('latin1')
    for (const value of Object.values(people[0])) expect(text).not.toContain(value)
  })
  test.each(['user_info.sealed.8', 'user_insurances.sealed.7', 'user_info.terms.7', ''])(
    'does not decrypt with the associated data %j',
    (otherData) => {
      expect(() => open(key, otherData, seal(key, associatedData, people[0]))).toThrow()
    },
  )
  test('does not decrypt with another key, even with the same ID', () => {
    const sealed = seal(key, associatedData, people[0])
    expect(() => open(aKey(), associatedData, sealed)).toThrow('Encrypted with another key')
    expect(() => open(sealingKey(key.id, newBytes(32)), associatedData, sealed)).toThrow()
  })
  test('rejects an unknown format by its number', () => {
    const sealed = seal(key, associatedData, people[0])
    sealed[0] = 9
    expect(() => open(key, associatedData, sealed)).toThrow(/format 9/)
  })
  test('does not decrypt after any byte is changed or cut off', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(), fc.integer({ min: 1, max: 255 }), (plain, where, flip) => {
        const sealed = sealBytes(key, associatedData, Buffer.from(plain))
        const at = where % sealed.length
        const changed = Buffer.from(sealed)
        changed[at] = (changed[at] as number) ^ flip
        expect(() => openBytes(key, associatedData, changed)).toThrow()
        expect(() => openBytes(key, associatedData, sealed.subarray(0, at))).toThrow()
      }),
    )
  })
})

describe('encryption keys', () => {
  const texts = ['one secret of thirty-two characters', 'two secrets of thirty-two characters'] as const
  const root = aKey()
  const ofTeam = { team_id: newUuid() }
  const ofUser = { ...ofTeam, user_id: newUuid() }

  /** The first root of a database, and its row. */
  async function aFirstRoot(text: string) {
    const { root, row } = await newFirstRoot(textKeys(text))
    return { root, stored: [{ ...row, active: true, retired: false, ended: false }] }
  }
  test('keeps a random root, which only its key-encryption key decrypts', async () => {
    const { root, stored } = await aFirstRoot(texts[0])
    expect(stored[0]?.wrapped.includes(root.key.bytes)).toBe(false)
    expect(await unwrapRoots(textKeys(texts[0]), stored, 'database')).toEqual([root])
    expect(await unwrapRoots(textKeys(texts[1], texts[0]), stored, 'database')).toEqual([root])
    await expect(unwrapRoots(textKeys(texts[1]), stored, 'database')).rejects.toThrow('ENCRYPTION_KEY is not the key')
    expect((await aFirstRoot(texts[0])).root.key.bytes).not.toEqual(root.key.bytes)
  })
  test('does not decrypt the root of another row', async () => {
    const { stored } = await aFirstRoot(texts[0])
    const moved = stored.map((row) => ({ ...row, id: newUuid() }))
    await expect(unwrapRoots(textKeys(texts[0]), moved, 'database')).rejects.toThrow()
  })
  test('encrypts with the newest active version of the root', () => {
    const [first, second, third] = [aKey(), aKey(), aKey()] as const
    const version = (key: typeof first, isActive = true) => ({ version: 1, key, wrappedBy: '', isActive, isRetired: false, isEnded: false })
    const vault = newVault(textKeys(texts[0]), [version(first), version(second), version(third, false)])
    expect(vault.root).toBe(second)
  })
  test('wraps each key with its parent only', () => {
    const { key: team, row: wrappedTeam } = newSealingKey(root, ofTeam)
    const { key: user, row } = newSealingKey(team, ofUser)
    expect(unwrap(root, ofTeam, wrappedTeam)).toEqual(team)
    expect(unwrap(team, ofUser, row)).toEqual(user)
    expect(keyIdOf(row.wrapped)).toBe(team.id)
    expect(keyIdOf(wrappedTeam.wrapped)).toBe(root.id)
    expect(() => unwrap(root, ofUser, row)).toThrow()
    expect(() => unwrap(aKey(), ofTeam, wrappedTeam)).toThrow()
  })
  test('does not unwrap a key under another ID or for another user', () => {
    const team = aKey()
    const { row } = newSealingKey(team, ofUser)
    expect(() => unwrap(team, ofUser, { ...row, id: newUuid() })).toThrow()
    expect(() => unwrap(team, { ...ofUser, user_id: newUuid() }, row)).toThrow()
  })
  test('derives a different key for each purpose', () => {
    expect(derive(key, 'blind index')).toEqual(derive(key, 'blind index'))
    expect(derive(key, 'blind index')).not.toEqual(derive(key, 'idempotency key'))
    expect(derive(key, 'blind index')).not.toEqual(key.bytes)
  })
})

describe('blind index', () => {
  const letters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzäöüéßøñçжя')
  const word = fc.string({ unit: letters, minLength: 2, maxLength: 20 })
  test('finds every indexed word by each prefix of at least two letters', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.nat(), fc.nat(), (words, which, cut) => {
        const chosen = words[which % words.length] as string
        const beginning = chosen.slice(0, 2 + (cut % (chosen.length - 1)))
        expect(indexTerms(key, words)).toEqual(expect.arrayContaining(queryTerms(key, beginning)))
      }),
    )
  })
  test('contains no words and no terms of another team', () => {
    const terms = indexTerms(key, ['Quillfeather'])
    expect(terms).toHaveLength('quillfeather'.length - 1)
    expect(terms.join(' ').toLowerCase()).not.toContain('quillfe')
    expect(terms.some((term) => indexTerms(aKey(), ['Quillfeather']).includes(term))).toBe(false)
  })
  test('searches a long word by its first twelve letters', () => {
    expect(queryTerms(key, 'Bartholomausburger')).toEqual(queryTerms(key, 'bartholomaus'))
  })
  test.each([
    ['Zephyrine', ['zephyrine']],
    ['Ödegård-Nkemelu', ['odegard', 'nkemelu']],
    ["O'Thistlewick", ['thistlewick']],
    ['Groß-Sørłæ', ['gross', 'sorlae']],
    ['ＹＳＯＬＤＥ', ['ysolde']],
    ['ysolde@example.com', ['ysolde', 'example', 'com']],
    ['+1 (202) 555-0143', ['12025550143']],
    ['202.555.0143', ['2025550143']],
    ['1961-07-23', ['19610723']],
    ['1961-07', ['196107']],
    ['1961-07-23 202 555 0143', ['19610723', '2025550143']],
    ['202-555-0143 1961-07-23 Ysolde', ['2025550143', '19610723', 'ysolde']],
    ['a b', []],
    ['  ', []],
  ])('splits %s into the words %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words)
  })
})
