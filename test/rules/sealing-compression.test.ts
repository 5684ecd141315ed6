import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyOf } from '../../src/delivery/events/body.ts'
import { open, openText, seal, sealCompressed, sealingKey } from '../../src/platform/sealing/seal.ts'
import { newSealingKey, unwrap } from '../../src/platform/sealing/vault.ts'
import { newBytes, newUuid } from '../support/seeded.ts'

const team_id = '6b0c2f0e-4a51-4f0e-9d57-2f3f6f1c9a10'
const user_id = 'a3f1c7d2-58b4-4c7e-8f60-91d2b7e4c021'
const key = sealingKey('6f1c2b1e-0d6a-4f5e-9a37-1d1f3c5b7a90', Buffer.alloc(32, 7), team_id + user_id)
const associatedData = 'events.sealed.1'

const samples = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    timezone_offset: 3600,
    type: 'watch',
    unit: 'bpm',
    timestamp: new Date(n * 60_000).toISOString(),
    value: 60 + (n % 7),
  }))

const payload = (count: number) => ({ client_user_id: 'patient-17', data: { user_id, data: samples(count) } })

describe('a compressed document', () => {
  test('decrypts to the same text, whatever its size', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 0, max: 40_000 }), (start, length) => {
        const text = start.padEnd(length, 'assay ')
        expect(openText(key, associatedData, sealCompressed(key, associatedData, text))).toBe(text)
      }),
    )
  })
  test.each([
    {
      size: 'short',
      document: payload(3),
      sealed: 'Au3Liazc5XuoSZ2pw3gA65Ss7psM2IkzmFmuWqtDggNia3pPSr2Hguq4unmDrOqN6f8Eel5fHkQugJ2E6LI95aFv2fK5b/SVbQ0=',
    },
    {
      size: 'long',
      document: { client_user_id: 'patient-17', data: Array(60).fill(samples(3)) },
      sealed:
        'A4E8OABQjNCvxAGZaO64myeHXT34TU+Wr1976AOQkk9pZDV2GkcetputYnbr+L0wGDekpQs5OUSnhLOohqK+sWolXybMgXtKbkcJjbgPYCZTvBce9OgQmada' + 'efs=',
    },
  ])('of $size text decrypts in every later version', ({ document, sealed }) => {
    expect(open(key, associatedData, Buffer.from(sealed, 'base64'))).toEqual(document)
  })
  test('of five samples takes a fifth of the bytes, although it is encrypted', () => {
    const text = JSON.stringify(payload(5))
    expect(sealCompressed(key, associatedData, text).length).toBeLessThan(text.length / 5)
    expect(sealCompressed(key, associatedData, text).length).toBeLessThan(seal(key, associatedData, payload(5)).length / 5)
  })
  test('is delivered in the same bytes as one that was not compressed', () => {
    const event = { event_id: '1', event_type: 'daily.data.heartrate.created', team_id, user_id, created_at: '2026-03-01T09:30:00.000Z' }
    const compressed = bodyOf(key, { ...event, sealed: sealCompressed(key, associatedData, JSON.stringify(payload(5))) })
    expect(compressed).toBe(bodyOf(key, { ...event, sealed: seal(key, associatedData, payload(5)) }))
    expect(JSON.parse(compressed)).toEqual({ ...event, ...payload(5) })
  })
  test('does not decrypt with another key, another place or changed bytes', () => {
    const sealed = sealCompressed(key, associatedData, JSON.stringify(payload(1)))
    expect(() => open(sealingKey(newUuid(), key.bytes, key.owner), associatedData, sealed)).toThrow()
    expect(() => open(sealingKey(key.id, newBytes(32), key.owner), associatedData, sealed)).toThrow()
    expect(() => open(key, 'attempts.sealed.1', sealed)).toThrow()
    for (const [at, byte] of sealed.entries()) {
      const changed = Buffer.from(sealed)
      changed[at] = byte ^ 1
      expect(() => open(key, associatedData, changed)).toThrow()
    }
  })
  test.each([5_000_000, 50_000_000])('of %d bytes is not decompressed, because no document is as large', (length) => {
    expect(() => openText(key, associatedData, sealCompressed(key, associatedData, 'a'.repeat(length)))).toThrow(/larger than/)
  })
  test('decrypts with the key of its user, unwrapped again', () => {
    const root = sealingKey(newUuid(), newBytes(32))
    const owner = { team_id: newUuid(), user_id: newUuid() }
    const { key, row } = newSealingKey(root, owner)
    const sealed = sealCompressed(key, associatedData, JSON.stringify(owner))
    expect(open(unwrap(root, owner, row), associatedData, sealed)).toEqual(owner)
  })
})
