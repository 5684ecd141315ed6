import { describe, expect, test } from 'vitest'
import { exampleOf, messageOf } from '../../src/contract/delivery/events.ts'
import { payloadLimit, shrinkToFit, splitIntoChunks } from '../../src/delivery/events/rules-size.ts'
import { fc } from '../support/properties.ts'

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** The message as it is sent: the longest type and the longest client_user_id. */
const message = (told: object) => ({
  ...exampleOf('daily.data.workout_swimming_stroke.created'),
  event_type: 'x'.repeat(60),
  client_user_id: '\u0001'.repeat(255),
  ...told,
})

describe('a batch of samples', () => {
  const sample = fc.record({ timestamp: fc.date({ noInvalidDate: true }), unit: fc.string({ maxLength: 400 }), value: fc.double() })
  const frame = { user_id: 'a3f1c7d2-58b4-4c7e-8f60-91d2b7e4c021', source: { name: 'Tidemark', slug: 'tidemark' }, source_id: 17 }

  test('is divided so that every message fits, nothing is lost and the order stays', () => {
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 300 }), fc.integer({ min: 16, max: 20 }), (data, kb) => {
        const parts = splitIntoChunks({ ...frame, data }, kb)
        expect(parts.flatMap((part) => part.data)).toEqual(data)
        for (const [i, part] of parts.entries()) {
          expect(part).toEqual({ ...frame, data: part.data, chunk_index: i, total_chunks: parts.length })
          expect(part.data.length).toBeGreaterThan(0)
          expect(bytes(message({ data: part }))).toBeLessThanOrEqual(kb * 1024)
        }
      }),
    )
  })

  test('has at most 2,500 samples in a message, and no more messages than that takes', () => {
    const data = Array.from({ length: 5001 }, (_, value) => ({ value }))
    expect(splitIntoChunks({ data }, 256).map((part) => part.data.length)).toEqual([2500, 2500, 1])
    expect(splitIntoChunks({ data: data.slice(0, 2500) }, 256)).toEqual([{ data: data.slice(0, 2500), chunk_index: 0, total_chunks: 1 }])
  })

  test('of no samples is nothing to tell, and a sample that no message holds is alone', () => {
    expect(splitIntoChunks({ data: [] }, 16)).toEqual([])
    const large = { note: 'x'.repeat(20_000) }
    expect(splitIntoChunks({ data: [{ note: '' }, large, { note: '' }] }, 16).map((part) => part.data.length)).toEqual([1, 1, 1])
  })
})

describe('an event that is too large', () => {
  const order = exampleOf('labtest.order.updated').data as { events: { id: number }[]; last_event: object; lab_test: object }

  test('loses its largest list first, keeps its shape and says what is missing', () => {
    const [event] = order.events
    const data = { ...order, passthrough: 'p'.repeat(9000), events: Array.from({ length: 1000 }, (_, id) => ({ ...event, id })) }
    const { left_out, ...told } = shrinkToFit({ client_user_id: null, data }, payloadLimit(16))
    expect(left_out).toEqual(['data.events'])
    expect(told.data).toEqual({ ...data, events: [] })
    const sent = { ...exampleOf('labtest.order.updated'), ...told, left_out }
    expect(messageOf('labtest.order.updated').parse(sent)).toEqual(sent)
    expect(bytes(sent)).toBeLessThanOrEqual(16 * 1024)
  })

  test('whatever it is made of, fits afterwards, with nothing emptied that is not named', () => {
    const part = fc.oneof(fc.string({ maxLength: 3000 }), fc.integer(), fc.constant(null), fc.array(fc.string(), { maxLength: 300 }))
    const data = fc.dictionary(fc.string({ minLength: 1, maxLength: 9 }), fc.oneof(part, fc.dictionary(fc.string(), part, { maxKeys: 5 })))
    fc.assert(
      fc.property(data, fc.integer({ min: 1024, max: 4096 }), (data, room) => {
        const { left_out = [], ...told } = shrinkToFit({ client_user_id: 'ward-7', data }, room)
        expect(bytes({ ...told, ...(left_out.length ? { left_out } : {}) })).toBeLessThanOrEqual(room)
        if (left_out.length === 0) expect(told.data).toEqual(data)
        expect(Object.keys(told.data as object)).toEqual(Object.keys(data))
      }),
    )
  })

  test('of small things alone is a fault of ours, and told without a value', () => {
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`n${i}`, 123_456_789]))
    expect(() => shrinkToFit({ client_user_id: null, data }, 1024)).toThrow(
      /^An event of \d+ bytes cannot be shrunk to fit the size limit\.$/,
    )
  })
})
