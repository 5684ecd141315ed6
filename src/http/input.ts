import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import type { Row } from '../contract/endpoint.ts'
import { type Fault, faultsOf } from '../contract/faults.ts'
import { invalid, Problem } from '../platform/problem.ts'

type Sent = { params: unknown; query: unknown; body: unknown; headers: unknown }

/** Validates a request by its row; every fault of every part at once. */
export function parseInput(row: Row, { params, query, body, headers }: Sent) {
  const faults: Fault[] = []
  const parse = (part: string, shape: z.ZodType | undefined, sent: unknown) => {
    if (!shape) return undefined
    const parsed = shape.safeParse(sent)
    if (!parsed.success) faults.push(...faultsOf(parsed.error, part, sent))
    return parsed.data
  }
  const input = {
    params: parse('path', row.params, row.params && typed(row.params, params as Record<string, unknown>)),
    query: parse('query', row.query, row.query && typed(row.query, query as Record<string, unknown>)),
    body: parse('body', row.body, body),
    headers: parse('header', row.headers, headers),
  }
  if (faults.length) throw new Problem('invalid', faults)
  return input
}

/** A query and a path are text; the row says what is a number, a switch or a list. */
function typed(shape: z.ZodObject, query: Record<string, unknown>) {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      Object.hasOwn(shape.shape, name) ? typedValue(shape.shape[name] as z.ZodType, value) : value,
    ]),
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

const DEEPEST = 64

/** Refuses text that PostgreSQL cannot hold, and nesting that nobody needs: what comes later may walk a value by recursion. */
export function checkText(part: string, value: unknown, depth = 0): void {
  if (typeof value === 'string') checkCharacters(part, value)
  if (!value || typeof value !== 'object') return
  if (depth === DEEPEST) throw invalid([part], `Nest at most ${DEEPEST} levels deep.`)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) checkText(part, value[i], depth + 1)
    return
  }
  for (const name of Object.keys(value)) {
    checkCharacters(part, name)
    checkText(part, (value as Record<string, unknown>)[name], depth + 1)
  }
}

function checkCharacters(part: string, text: string) {
  if (text.includes('\0')) throw invalid([part], 'Text must not contain NUL characters; remove them.')
  if (!text.isWellFormed()) throw invalid([part], 'Text must be well formed Unicode; a surrogate stands without its other half.')
}

export function parseJson(bytes: Buffer): unknown {
  if (!bytes.length) return undefined
  const value = parsed(bytes)
  checkText('body', value)
  return value
}

function parsed(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw notJson('it is not UTF-8')
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    throw notJson(whereIn((error as Error).message))
  }
}

const notJson = (why?: string) => invalid(['body'], `The body is not valid JSON${why ? `: ${why}` : ''}.`, 'json_invalid')

/** The place only, since the parser's own words repeat what was sent. */
function whereIn(message: string) {
  if (/^Unexpected end/.test(message)) return 'it ends too early'
  const place = /at position \d+ \(line (\d+) column (\d+)\)/.exec(message)
  return place ? `look at line ${place[1]}, column ${place[2]}` : undefined
}
