import type { z } from 'zod'
import type { Row } from '../contract/endpoint.ts'
import { type Fault, Problem } from '../problem.ts'
import { faultsOf } from './problems.ts'

type Sent = { params: unknown; query: unknown; body: unknown }

/** Validates a request by its row; every fault of every part at once. */
export function parseInput(row: Row, { params, query, body }: Sent) {
  const faults: Fault[] = []
  const parse = (part: string, shape: z.ZodType | undefined, sent: unknown) => {
    if (!shape) return undefined
    const parsed = shape.safeParse(sent)
    if (!parsed.success) faults.push(...faultsOf(parsed.error, part, sent))
    return parsed.data
  }
  const input = {
    params: parse('path', row.params, params),
    query: parse('query', row.query, row.query && typed(row.query, query as Record<string, unknown>)),
    body: parse('body', row.body, body),
  }
  if (faults.length) throw new Problem('invalid', faults)
  return input
}

/** A query is text; the row says what is a number, a switch or a list. */
function typed(shape: z.ZodObject, query: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, name in shape.shape ? typedValue(shape.shape[name] as z.ZodType, value) : value]),
  )
}

function typedValue(type: z.ZodType, value: unknown): unknown {
  const def = type.def as { type: string; innerType?: z.ZodType; element?: z.ZodType }
  if (def.innerType) return typedValue(def.innerType, value)
  if (def.type === 'array') return [value].flat().map((one) => typedValue(def.element as z.ZodType, one))
  if (def.type === 'number' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  if (def.type === 'boolean') return { true: true, '1': true, false: false, '0': false }[String(value)] ?? value
  return value
}

/** PostgreSQL text cannot hold NUL, and nobody sends one in good faith. */
export function refuseNul(part: string, values: unknown) {
  const waiting: unknown[] = [values]
  while (waiting.length) {
    const value = waiting.pop()
    if (typeof value === 'string' && value.includes('\0')) throw nulProblem(part)
    if (value && typeof value === 'object') for (const [name, one] of Object.entries(value)) waiting.push(name, one)
  }
}

const nulProblem = (part: string) =>
  new Problem('invalid', [{ type: 'value_error', loc: [part], msg: 'Text must not contain NUL characters; remove them.' }])

/** Looks for NUL only where the text can hold one, so an ordinary body costs one scan. */
export function parseJson(text: string): unknown {
  if (!text) return undefined
  const value = parsed(text)
  if (text.includes('\\u0000')) refuseNul('body', value)
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem('invalid', [{ type: 'json_invalid', loc: ['body'], msg: 'The body is not valid JSON.' }])
  }
}
