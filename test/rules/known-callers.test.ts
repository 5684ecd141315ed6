import { expect, test } from 'vitest'
import { type KeyCaller, MAX_AGE_MS, MAX_KNOWN_CALLERS, newKnownCallers } from '../../src/tenants/keys/known-callers.ts'

const callerOf = (team_id: string, plan = 'scale'): KeyCaller => ({
  caller: { kind: 'team', org_id: 'org', team_id, key_id: `key of ${team_id}`, read_only: false, plan, betas: [], clock_offset_ms: 0 },
  expires_at: null,
  last_used_at: null,
})

/** Callers of a database that the test changes. */
function open() {
  const known = newKnownCallers()
  const reads: string[] = []
  const get = (hash: string, now: number, found: KeyCaller | undefined = callerOf(hash)) =>
    known.get(hash, now, async () => {
      reads.push(hash)
      if (!found) throw new Error('unknown key')
      return found
    })
  return { known, reads, get }
}

test('a caller is known for one second after its read began', async () => {
  const { reads, get } = open()
  expect([await get('a', 5000), await get('a', 5000 + MAX_AGE_MS - 1)]).toEqual([callerOf('a'), callerOf('a')])
  expect(reads).toEqual(['a'])
  await get('a', 5000 + MAX_AGE_MS)
  expect(reads).toEqual(['a', 'a'])
})

test('a second read knows whom the key identified, and its failure forgets the caller', async () => {
  const { known, get } = open()
  await get('a', 0)
  const seen: unknown[] = []
  const find = async (caller: unknown) => {
    seen.push(caller)
    throw new Error('revoked')
  }
  for (let i = 0; i < 2; i++) await expect(known.get('a', MAX_AGE_MS, find)).rejects.toThrow('revoked')
  expect(seen).toEqual([callerOf('a').caller, undefined])
})

test('an unknown key is looked up every time', async () => {
  const { reads, known } = open()
  const find = async (): Promise<KeyCaller> => {
    reads.push('x')
    throw new Error('unknown key')
  }
  for (let i = 0; i < 2; i++) await expect(known.get('x', 0, find)).rejects.toThrow('unknown key')
  expect([reads, known.size]).toEqual([['x', 'x'], 0])
})

test('a change of a team or an organization forgets its callers', async () => {
  const { known, reads, get } = open()
  for (const hash of ['a', 'b']) await get(hash, 0)
  known.forget('a')
  for (const hash of ['a', 'b']) await get(hash, 1)
  expect(reads).toEqual(['a', 'b', 'a'])
  known.forget('org')
  for (const hash of ['a', 'b']) await get(hash, 2)
  expect(reads).toEqual(['a', 'b', 'a', 'a', 'b'])
})

test.each(['a', 'org'])('a read during a change of %s is not kept, because it may be older', async (id) => {
  const { known, reads, get } = open()
  const before = Promise.withResolvers<KeyCaller>()
  const reading = known.get('a', 0, () => before.promise)
  known.forget(id)
  before.resolve(callerOf('a', 'free'))
  expect((await reading).caller.plan).toBe('free')
  expect((await get('a', 1)).caller.plan).toBe('scale')
  expect(reads).toEqual(['a'])
})

test('a process knows a limited number of callers', async () => {
  const { known, reads, get } = open()
  for (let i = 0; i <= MAX_KNOWN_CALLERS; i++) await get(`key ${i}`, 0)
  expect(known.size).toBe(MAX_KNOWN_CALLERS)
  reads.length = 0
  await get(`key ${MAX_KNOWN_CALLERS}`, 0)
  await get('key 0', 0)
  expect(reads).toEqual(['key 0'])
})
