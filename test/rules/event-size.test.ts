import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exampleOf, messageOf } from '../../src/contract/events.ts'
import { payloadLimit, shrinkToFit, splitIntoChunks } from '../../src/delivery/events/rules-size.ts'
import { runAtOnce } from '../../src/platform/shares/slices.ts'

const split = (samples: string[], kb: number, frame = {}) => runAtOnce(splitIntoChunks(frame, samples, (samples) => samples.join(), kb))
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** A message with the longest event type and the longest client_user_id. */
const message = (fields: object) => ({
  ...exampleOf('daily.data.workout_swimming_stroke.created'),
  event_type: 'x'.repeat(60),
  client_user_id: '\u0001'.repeat(255),
  ...fields,
})

const parse = (chunk: string) => JSON.parse(chunk) as { data: unknown[] }

describe('batch of samples', () => {
  const sample = fc.record({ timestamp: fc.date({ noInvalidDate: true }), unit: fc.string({ maxLength: 400 }), value: fc.double() })
  const frame = { user_id: 'a3f1c7d2-58b4-4c7e-8f60-91d2b7e4c021', source: { name: 'Tidemark', slug: 'tidemark' }, source_id: 17 }

  test('is split into messages that fit, in order and without loss', () => {
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 300 }), fc.integer({ min: 16, max: 20 }), (data, kb) => {
        const samples = data.map((sample) => JSON.stringify(sample))
        const parts = split(samples, kb, frame).map(parse)
        expect(parts.flatMap((part) => part.data.map((sample) => JSON.stringify(sample)))).toEqual(samples)
        for (const [i, part] of parts.entries()) {
          expect(part).toEqual({ ...frame, data: part.data, chunk_index: i, total_chunks: parts.length })
          expect(part.data.length).toBeGreaterThan(0)
          expect(bytes(message({ data: part }))).toBeLessThanOrEqual(kb * 1024)
        }
      }),
    )
  })

  test('puts at most 2,500 samples into a message', () => {
    const data = Array.from({ length: 5001 }, (_, value) => String(value))
    expect(split(data, 256).map((part) => parse(part).data.length)).toEqual([2500, 2500, 1])
    expect(split(data.slice(0, 2500), 256)).toEqual([`{"data":[${data.slice(0, 2500)}],"chunk_index":0,"total_chunks":1}`])
  })

  test('produces no message for no samples and a separate message for an oversized sample', () => {
    expect(split([], 16)).toEqual([])
    const large = `"${'x'.repeat(20_000)}"`
    expect(split(['""', large, '""'], 16).map((part) => parse(part).data.length)).toEqual([1, 1, 1])
  })
})

describe('oversized event', () => {
  const order = exampleOf('labtest.order.updated').data as { events: { id: number }[]; last_event: object; lab_test: object }

  test('drops its largest list first, keeps its shape and lists what was left out', () => {
    const [event] = order.events
    const data = { ...order, passthrough: 'p'.repeat(9000), events: Array.from({ length: 1000 }, (_, id) => ({ ...event, id })) }
    const { left_out, ...fitted } = shrinkToFit({ client_user_id: null, data }, payloadLimit(16))
    expect(left_out).toEqual(['data.events'])
    expect(fitted.data).toEqual({ ...data, events: [] })
    const sent = { ...exampleOf('labtest.order.updated'), ...fitted, left_out }
    expect(messageOf('labtest.order.updated').parse(sent)).toEqual(sent)
    expect(bytes(sent)).toBeLessThanOrEqual(16 * 1024)
  })

  test('fits after trimming and keeps every key', () => {
    const part = fc.oneof(fc.string({ maxLength: 3000 }), fc.integer(), fc.constant(null), fc.array(fc.string(), { maxLength: 300 }))
    const data = fc.dictionary(fc.string({ minLength: 1, maxLength: 9 }), fc.oneof(part, fc.dictionary(fc.string(), part, { maxKeys: 5 })))
    fc.assert(
      fc.property(data, fc.integer({ min: 1024, max: 4096 }), (data, room) => {
        const { left_out = [], ...fitted } = shrinkToFit({ client_user_id: 'ward-7', data }, room)
        expect(bytes({ ...fitted, ...(left_out.length ? { left_out } : {}) })).toBeLessThanOrEqual(room)
        if (left_out.length === 0) expect(fitted.data).toEqual(data)
        expect(Object.keys(fitted.data as object)).toEqual(Object.keys(data))
      }),
    )
  })

  test('throws without quoting values if nothing can be left out', () => {
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`n${i}`, 123_456_789]))
    expect(() => shrinkToFit({ client_user_id: null, data }, 1024)).toThrow(
      /^An event of \d+ bytes cannot be shrunk to fit the size limit\.$/,
    )
  })
})
