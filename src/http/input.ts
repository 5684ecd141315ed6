import type { z } from 'zod'
import type { Row } from '../contract/endpoint.ts'
import { type Fault, faultsOf } from '../contract/faults.ts'
import { findUnknownFields } from '../contract/unknown-fields.ts'
import { invalid, Problem } from '../platform/problem.ts'

export type RawInput = { params: unknown; query: unknown; body: unknown; headers: unknown }

/** Validates a request by its row and reports all faults at once. */
export function parseInput(row: Row, { params, query, body, headers }: RawInput) {
  const faults: Fault[] = []
  const parse = (part: string, shape: z.ZodType | undefined, value: unknown) => {
    if (!shape) return undefined
    const parsed = shape.safeParse(value)
    if (!parsed.success) faults.push(...faultsOf(parsed.error, part, value))
    return parsed.data
  }
  const input = {
    params: parse('path', row.params, row.params && coerceFields(row.params, params as Record<string, unknown>)),
    query: parse('query', row.query, row.query && coerceFields(row.query, withoutEmpty(row.query, query as Record<string, unknown>))),
    body: parse('body', row.body, row.multipart ? coerceForm(row.body, body) : body),
    headers: parse('header', row.headers, headers),
  }
  if (row.grantsAccess && row.query) faults.push(...findUnknownFields(row.query, query, ['query']))
  if (row.grantsAccess && row.body) faults.push(...findUnknownFields(row.body, body, ['body']))
  if (faults.length) throw new Problem('invalid', faults)
  return input
}

/** An empty ID or cursor is a mistake of the caller, who would get everything instead of one thing. */
const mustNotBeEmpty = (name: string) => /(^|_)(ids?|cursor)$|^after$/.test(name)

/** Leaves out optional query fields that are empty, because forms and clients send every field they know. */
const withoutEmpty = (shape: z.ZodObject, fields: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) =>
        value !== '' || mustNotBeEmpty(name) || !(shape.shape[name] as z.ZodType | undefined)?.safeParse(undefined).success,
    ),
  )

/** The values of a form are text, too. */
const coerceForm = (shape: z.ZodType | undefined, body: unknown) =>
  typeof body === 'object' && body !== null ? coerceFields(shape as z.ZodObject, body as Record<string, unknown>) : body

/** Converts path and query text to the numbers, booleans and lists that the row declares. */
function coerceFields(shape: z.ZodObject, fields: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Object.hasOwn(shape.shape, name) ? coerceValue(shape.shape[name] as z.ZodType, value) : value,
    ]),
  )
}

function coerceValue(type: z.ZodType, value: unknown): unknown {
  const def = type.def as { type: string; innerType?: z.ZodType; element?: z.ZodType }
  if (def.innerType) return coerceValue(def.innerType, value)
  if (def.type === 'array') return [value].flat().map((item) => coerceValue(def.element as z.ZodType, item))
  if (def.type === 'number' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  if (def.type === 'boolean') return { true: true, '1': true, false: false, '0': false }[String(value)] ?? value
  return value
}

type Loc = (string | number)[]

export const MAX_DEPTH = 64

export const nestedTooDeeply = (loc: Loc) => invalid(loc, `Nested too deeply. The limit is ${MAX_DEPTH} levels.`)

/** Refuses text that PostgreSQL cannot store. Limits nesting, because later steps process values recursively. */
export const checkText = (value: unknown, ...path: Loc) => checkAt(path, value)

function checkAt(path: Loc, value: unknown): void {
  if (typeof value === 'string') checkCharacters(path, value)
  if (!value || typeof value !== 'object') return
  if (path.length > MAX_DEPTH) throw nestedTooDeeply(path.slice(0, 1))
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) checkInside(path, i, value[i])
    return
  }
  for (const name of Object.keys(value)) {
    checkCharacters(path, name)
    checkInside(path, name, (value as Record<string, unknown>)[name])
  }
}

/** One path serves the whole body, because a body may have a million values. */
function checkInside(path: Loc, name: string | number, value: unknown) {
  path.push(name)
  checkAt(path, value)
  path.pop()
}

function checkCharacters(loc: Loc, text: string) {
  if (text.includes('\0')) throw invalid(loc, 'Text contains a NUL character. Remove it.')
  if (!text.isWellFormed()) throw invalid(loc, 'Text is not well-formed Unicode. Remove the unpaired surrogate.')
}
