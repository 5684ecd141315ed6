import { expect, test } from 'vitest'
import { z } from 'zod'
import { Day, DayIn, DayOrInstant } from '../../src/contract/common.ts'
import { rows } from '../../src/contract/index.ts'
import { partsOf } from '../../src/contract/personal.ts'

const inputsOf = (shape: z.ZodType) => (shape instanceof z.ZodPipe ? [shape.in as z.ZodType] : partsOf(shape))

const isDate = (shape: z.ZodType) =>
  (shape instanceof z.ZodStringFormat && shape.format === 'date') || (shape.meta() as { format?: string } | undefined)?.format === 'date'

/** The positions of dates that accept only one spelling. */
function strictDatesIn(shape: z.ZodType, path: string): string[] {
  const isEitherDate = shape instanceof z.ZodUnion && shape.options.some((one) => isDate(one as z.ZodType))
  if (isDate(shape) || isEitherDate) return shape.safeParse('2026/03/01').success ? [] : [path]
  if (shape instanceof z.ZodObject)
    return Object.entries(shape.shape).flatMap(([name, field]) => strictDatesIn(field as z.ZodType, `${path}.${name}`))
  return inputsOf(shape).flatMap((part) => strictDatesIn(part, path))
}

test.each(rows)('every date in a request of %s accepts the spellings of existing clients', (name, { params, query, body }) => {
  const shapes = { params, query, body }
  expect(Object.entries(shapes).flatMap(([part, shape]) => (shape ? strictDatesIn(shape, `${name}.${part}`) : []))).toEqual([])
})

test('finds dates that accept only one spelling', () => {
  const shape = z.object({
    day: Day.nullish(),
    days: z.array(Day),
    either: z.union([Day, z.iso.datetime()]),
    accepted: DayIn.default('2026-03-01').describe('The first day.'),
    time: DayOrInstant.nullish(),
  })
  expect(strictDatesIn(shape, 'it')).toEqual(['it.day', 'it.days', 'it.either'])
})
