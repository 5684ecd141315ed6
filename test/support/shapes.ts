import fc from 'fast-check'
import type { z } from 'zod'
import { people } from './people.ts'
import { newUuid } from './seeded.ts'

type Def = {
  type: string
  format?: string
  innerType?: z.ZodType
  element?: z.ZodType
  shape?: Record<string, z.ZodType>
  options?: z.ZodType[]
  entries?: Record<string, string>
  values?: unknown[]
  in?: z.ZodType
}

export const defOf = (type: z.ZodType) => type.def as unknown as Def

export const fieldsOf = (type: z.ZodType | undefined): [string, z.ZodType][] => Object.entries((type && defOf(type).shape) ?? {})

/** The type under optional, nullable, default and transform. */
export const unwrap = (type: z.ZodType): z.ZodType => {
  const { innerType, in: sent } = defOf(type)
  const inside = innerType ?? sent
  return inside ? unwrap(inside) : type
}

const texts: Record<string, () => string> = {
  guid: () => newUuid(),
  datetime: () => '2037-01-02T03:04:05Z',
  date: () => '1990-01-02',
  email: () => 'somebody@clinic.example',
  url: () => 'https://clinic.example/logo.png',
}

/** A valid value. Objects have only their required fields, with `overrides` by name. */
export function exampleOf(type: z.ZodType, name = '', overrides: Record<string, unknown> = {}): unknown {
  if (name in overrides) return overrides[name]
  const def = defOf(type)
  if (def.type === 'object')
    return Object.fromEntries(
      fieldsOf(type)
        .filter(([, field]) => !field.safeParse(undefined).success)
        .map(([name, field]) => [name, exampleOf(field, name, overrides)]),
    )
  if (unwrap(type) !== type) return exampleOf(unwrap(type), name, overrides)
  if (def.type === 'array') return [exampleOf(def.element as z.ZodType, name, overrides)]
  if (def.type === 'union') return exampleOf((def.options as z.ZodType[])[0] as z.ZodType, name, overrides)
  if (def.type === 'enum') return Object.values(def.entries ?? {})[0]
  if (def.type === 'literal') return def.values?.[0]
  if (def.type === 'record') return {}
  if (def.type === 'number') return 1
  if (def.type === 'boolean') return true
  return texts[def.format ?? '']?.() ?? `sample-${newUuid().slice(0, 8)}`
}

/** Personal values in invalid forms, which must never be stored, echoed or logged. */
const personal = people.flatMap(({ first_name, email, dob }) => [
  `${first_name}\0`,
  `${email}${'x'.repeat(10_000)}`,
  [[dob]],
  { value: [first_name, email] },
  { [first_name]: email },
])

const oddTexts = ['', ' ', '\0', '\ud800', '%', "'", '\\', '__proto__', 'constructor', '٣', '-0', '1e400', 'NaN', 'null']

/** Timestamps that PostgreSQL or JavaScript cannot represent. */
export const oddTimes = [
  '0000-01-01',
  '9999-12-31',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-14:00',
  '9999-12-31T23:59:59Z',
  '2037-01-01T00:00:00+23:59',
  '2037-01-01T00:00:00.123456789Z',
]

export const oddCursors = [
  '1 2',
  `0000-01-01T00:00:00.000Z ${newUuid()}`,
  `2037-13-01T00:00:00.000Z ${newUuid()}`,
  `2037-01-01T00:00:00.000Z ${'-'.repeat(36)}`,
].map((text) => Buffer.from(text).toString('base64url'))

// The unit `binary` of fast-check does the same, but takes a second to list all code points.
const anyCharacter = fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point).toWellFormed())

const garbageText = fc.oneof(
  fc.constantFrom(...oddTexts, ...oddTimes, ...oddCursors),
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constant('x'.repeat(10_000)),
)

export const garbage = fc.oneof(
  garbageText,
  fc.constantFrom<unknown>(...personal),
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, [], {}, [null], [[[]]], { __proto__: null }),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Valid values with random optional fields. */
export function validInput(type: z.ZodType, name: string, overrides: Record<string, unknown>): fc.Arbitrary<unknown> {
  const { type: kind } = defOf(type)
  if (name in overrides || kind !== 'object') return fc.constant(null).map(() => exampleOf(type, name, overrides))
  return fc.record(
    Object.fromEntries(
      fieldsOf(type).map(([name, field]) => {
        const value = validInput(unwrap(field), name, overrides)
        return [name, field.safeParse(undefined).success ? fc.option(value, { nil: undefined }) : value]
      }),
    ),
  )
}

/** Valid values with one part replaced by garbage, because nearly valid input gets furthest. */
export function invalidInput(type: z.ZodType, name: string, overrides: Record<string, unknown>): fc.Arbitrary<unknown> {
  const inside = unwrap(type)
  const def = defOf(inside)
  if (def.type === 'array') return fc.oneof(fc.array(invalidInput(def.element as z.ZodType, name, overrides), { maxLength: 3 }), garbage)
  const odd = fc.constantFrom(...(name === 'next_cursor' ? oddCursors : oddTimes))
  if (def.type !== 'object')
    return fc.oneof({ arbitrary: garbage, weight: 3 }, { arbitrary: odd, weight: /date|^$/.test(def.format ?? '') ? 3 : 0 })
  const fields = fieldsOf(inside)
  const one = (key: string, field: z.ZodType) =>
    fc
      .tuple(validInput(inside, '', overrides), invalidInput(field, key, overrides))
      .map(([object, piece]) => ({ ...(object as object), [key]: piece }))
  return fc.oneof(garbage, ...fields.map(([key, field]) => one(key, field)))
}
