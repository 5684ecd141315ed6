import type { z } from 'zod'
import type { Fault } from './faults.ts'
import { findNearest } from './nearest.ts'

/** Comparing names takes time, and a body can have thousands. */
const MAX_FAULTS = 20
const MAX_NAME_LENGTH = 64

type Loc = (string | number)[]
type Inner = z.ZodType
/** The parts of zod's definitions that lead to other schemas. */
type Def = {
  type: string
  shape?: Record<string, Inner>
  catchall?: Inner
  element?: Inner
  valueType?: Inner
  innerType?: Inner
  in?: Inner
  options?: Inner[]
}

/** The fields of a body or a query that its schema does not declare, at any depth, with the names that were probably meant. */
export const findUnknownFields = (schema: z.ZodType, value: unknown, loc: Loc): Fault[] =>
  unknownIn(schema, value, loc).slice(0, MAX_FAULTS)

function unknownIn(schema: Inner, value: unknown, loc: Loc): Fault[] {
  const def = schema.def as Def
  const inner = def.innerType ?? def.in
  if (inner) return unknownIn(inner, value, loc)
  if (typeof value !== 'object' || value === null) return []
  if (def.options) return unknownInOption(def.options, value, loc)
  if (Array.isArray(value))
    return def.element ? collect(value.entries(), (i, entry) => unknownIn(def.element as Inner, entry, [...loc, i])) : []
  const { shape, valueType, catchall } = def
  if (valueType) return collect(Object.entries(value), (name, entry) => unknownIn(valueType, entry, [...loc, name]))
  if (!shape) return []
  const isKnown = (name: string) => Object.hasOwn(shape, name)
  const unknown = catchall ? [] : Object.keys(value).filter((name) => !isKnown(name))
  const known = Object.entries(value).filter(([name]) => isKnown(name))
  return [
    ...unknownFields(unknown.slice(0, MAX_FAULTS), Object.keys(shape), loc),
    ...collect(known, (name, entry) => unknownIn(shape[name] as Inner, entry, [...loc, name])),
  ]
}

/** A name that resembles no field may be a value, such as the name of a patient, so it is not repeated. */
function unknownFields(names: string[], known: string[], loc: Loc): Fault[] {
  const type = 'unknown_field'
  const compared = names.map((name) => ({ name, nearest: name.length <= MAX_NAME_LENGTH ? findNearest(name, known) : undefined }))
  const faults: Fault[] = compared.flatMap(({ name, nearest }) =>
    nearest ? [{ type, loc: [...loc, name], msg: `This field does not exist. Did you mean ${nearest}?` }] : [],
  )
  if (faults.length === names.length) return faults
  return [...faults, { type, loc, msg: `A field here does not exist. Remove it. The known fields are ${known.toSorted().join(', ')}.` }]
}

/** The unknown fields of the option that matches the value best. A value that matches no option has faults of its own. */
function unknownInOption(options: Inner[], value: object, loc: Loc) {
  const found = options.filter((option) => option.safeParse(value).success).map((option) => unknownIn(option, value, loc))
  return found.sort((a, b) => a.length - b.length)[0] ?? []
}

function collect<K>(entries: Iterable<[K, unknown]>, find: (key: K, entry: unknown) => Fault[]) {
  const faults: Fault[] = []
  for (const [key, entry] of entries) {
    faults.push(...find(key, entry))
    if (faults.length >= MAX_FAULTS) break
  }
  return faults
}
