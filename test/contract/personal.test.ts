import { expect, test } from 'vitest'
import { z } from 'zod'
import { Id, Instant, openEnum } from '../../src/contract/common.ts'
import { eventTypes } from '../../src/contract/events.ts'
import { rows } from '../../src/contract/index.ts'
import { markOf, PersonalText, partsOf, personal, Safe, safe } from '../../src/contract/personal.ts'
import { maskChunk, maskOf } from '../../src/tenants/people/sessions/rules-masking.ts'
import { findLeaks } from '../support/leaks.ts'

/** The positions of free texts, dates and values of any type that are marked neither personal nor safe. */
function undecidedIn(shape: z.ZodType, path: string): string[] {
  const mark = markOf(shape)
  if (mark && mark !== 'message') return []
  if (isOpaque(shape) && !mark) return [path]
  if (shape instanceof z.ZodObject)
    return Object.entries(shape.shape).flatMap(([name, field]) => undecidedIn(field as z.ZodType, `${path}.${name}`))
  return partsOf(shape).flatMap((part) => undecidedIn(part, path))
}

/** IDs, times and enumerations contain no free text. Numbers and booleans identify nobody unless they are marked. */
function isOpaque(shape: z.ZodType) {
  const { format, 'x-extensible-enum': values } = (shape.meta() ?? {}) as Record<string, unknown>
  if (shape instanceof z.ZodString || shape instanceof z.ZodStringFormat) return !values && format !== 'uuid' && format !== 'date-time'
  if (shape instanceof z.ZodObject) return shape.def.catchall instanceof z.ZodUnknown && !Object.keys(shape.shape).length
  return !known.some((kind) => shape instanceof kind)
}

const known = [
  ...[z.ZodArray, z.ZodRecord, z.ZodUnion, z.ZodNullable, z.ZodOptional, z.ZodDefault, z.ZodPipe],
  ...[z.ZodNumber, z.ZodBoolean, z.ZodEnum, z.ZodLiteral, z.ZodNull, z.ZodVoid],
]

test.each(rows)('every text that %s returns is marked personal or safe', (name, row) => {
  expect(undecidedIn(row.returns, name)).toEqual([])
})

test.each(Object.entries(eventTypes))('every text of %s is marked personal or safe', (name, { data }) => {
  expect(undecidedIn(data as z.ZodType, name)).toEqual([])
})

test('finds texts, dates and values of any type without a mark', () => {
  const shape = z.object({
    id: Id,
    at: Instant.nullable(),
    kind: openEnum(['one']),
    name: Safe.nullish(),
    note: PersonalText.describe('Of the patient.'),
    text: z.string().nullable(),
    day: z.array(z.iso.date()),
    any: z.unknown(),
    loose: z.looseObject({}),
    by_name: z.record(z.string(), z.int()),
    by_slug: z.record(Safe, safe(z.unknown())),
    either: z.union([z.number(), z.string()]),
  })
  expect(undecidedIn(shape, 'it')).toEqual(['it.text', 'it.day', 'it.any', 'it.loose', 'it.by_name', 'it.either'])
})

test('describe keeps the mark, and shared shapes stay unmarked', () => {
  const Day = z.iso.date()
  expect(markOf(personal(Day, 'date').describe('Of birth.'))).toBe('date')
  expect(markOf(Day)).toBeUndefined()
})

test('marks do not change the JSON Schema', () => {
  const plain = z.object({ name: z.string().describe('Of the patient.'), day: z.iso.date().nullish() })
  const marked = z.object({ name: PersonalText.describe('Of the patient.'), day: personal(z.iso.date(), 'date').nullish() })
  expect(z.toJSONSchema(marked)).toEqual(z.toJSONSchema(plain))
})

test('a response is masked by its shape', () => {
  const Person = z.object({ name: personal(z.string(), 'name'), born: personal(z.iso.date(), 'date'), income: personal(z.int()).nullish() })
  const mask = maskOf(
    z.object({
      person: Person.nullable(),
      lab: z.object({ name: Safe }),
      eaten: z.record(PersonalText, z.int()),
      value: z.union([z.number(), PersonalText]),
      values: z.array(z.union([z.number(), PersonalText])),
      raw: personal(z.looseObject({})),
    }),
  )
  expect(
    mask?.({
      person: { name: 'Zephyrine', born: '1961-07-23', income: 5 },
      lab: { name: 'Lantern' },
      eaten: { soup: 1, bread: 2 },
      value: 5,
      values: [5, 'rested', ''],
      raw: { place: [52.5], note: { text: 'ran' }, indoors: false },
    }),
  ).toEqual({
    person: { name: 'Z•••', born: '••••-••-••', income: null },
    lab: { name: 'Lantern' },
    eaten: { '••• 1': 1, '••• 2': 2 },
    value: 5,
    values: [5, '•••', ''],
    raw: { place: [null], note: { text: '•••' }, indoors: false },
  })
})

test('builds no masker for a shape without personal fields', () => {
  expect(maskOf(z.object({ id: Id, name: Safe }))).toBeUndefined()
})

test('the whole data line of a stream is masked, even with line separators inside', () => {
  const event = {
    event_type: 'labtest.order.created',
    data: { passthrough: 'Zephyrine\u2028Quillfeather\u2029\u0085', nested: 'Marrowbone' },
  }
  const masked = maskChunk(`id: e1\nevent: labtest.order.created\ndata: ${JSON.stringify(event)}\n\n`)
  expect(masked).toMatch(/^id: e1\nevent: labtest\.order\.created\ndata: \{.*\}\n\n$/)
  expect(findLeaks(masked, 'stream')).toEqual([])
})
