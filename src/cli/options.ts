import { parseArgs } from 'node:util'
import type { z } from 'zod'
import { findNearest } from '../contract/nearest.ts'
import { type Problem, setupProblem } from '../platform/problem.ts'

export type Option = {
  /** The placeholder of the value in help; a flag has none. */
  value?: string
  what: string
  oneOf?: readonly string[]
  shape?: z.ZodType
  required?: true
  many?: true
  fallback?: string
  /** The value is a file, so that completion offers files. */
  file?: true
}
export type Options = Readonly<Record<string, Option>>

type SingleValue<O> = O extends { shape: infer S extends z.ZodType } ? z.output<S> : O extends { oneOf: readonly (infer V)[] } ? V : string
type OptionValue<O> = O extends { many: true }
  ? SingleValue<O>[]
  : O extends { required: true } | { fallback: string }
    ? SingleValue<O>
    : SingleValue<O> | undefined
type ParsedValue<O> = O extends { value: string } ? OptionValue<O> : boolean

export type Values<O extends Options> = { [N in keyof O]: ParsedValue<O[N]> } & { json: boolean }

export const json = { what: 'Print the result as JSON.' } as const

/** The usage line: required options as they are, optional ones in brackets. */
export function usageLine(name: string, options: Options) {
  const parts = Object.entries({ ...options, json }).map(([option, row]: [string, Option]) => {
    const text = optionText(option, row)
    return row.required && !row.many ? text : `[${text}]${row.many ? '...' : ''}`
  })
  return `assay ${name} ${parts.join(' ')}`
}

export const optionText = (option: string, { value }: Option) => (value ? `--${option} ${value}` : `--${option}`)

/** Parses the options of a command. Errors name the option and never repeat a value, because it can be a key. */
export function parseOptions(args: string[], options: Options, line: string): Record<string, unknown> {
  const all: Record<string, Option> = { ...options, json }
  const { values, positionals } = parseArguments(args, all, line)
  if (positionals.length) throw usageError(`Pass every value with its option.\nUsage: ${line}`)
  return Object.fromEntries(Object.entries(all).map(([name, row]) => [name, optionValue(name, row, values[name], line)]))
}

type RawValue = string | boolean | (string | boolean)[] | undefined

function parseArguments(args: string[], all: Record<string, Option>, line: string) {
  const definitions = Object.entries(all).map(([name, { value, many }]) => {
    const type = value ? ('string' as const) : ('boolean' as const)
    return [name, { type, ...(many ? { multiple: true } : {}) }] as const
  })
  try {
    const { values, positionals } = parseArgs({ args, options: Object.fromEntries(definitions), allowPositionals: true })
    return { values: values as Record<string, RawValue>, positionals }
  } catch (error) {
    throw usageError(`${parseError(error as Error, Object.keys(all))}\nUsage: ${line}`)
  }
}

function parseError({ message }: Error, names: string[]) {
  const [, ambiguous] = /^Option '--([\w-]+)[^']*' argument is ambiguous/.exec(message) ?? []
  if (ambiguous) return `--${ambiguous} needs a value that does not start with a dash.`
  const [, unknown] = /^Unknown option '-{1,2}([^']+)'/.exec(message) ?? []
  if (!unknown) return message
  const nearest = findNearest(unknown, names)
  return `Unknown option --${unknown}.${nearest ? ` Did you mean --${nearest}?` : ''}`
}

function optionValue(name: string, row: Option, raw: RawValue, line: string) {
  if (!row.value) return raw === true
  if (row.many) return ((raw ?? []) as string[]).map((text) => checkValue(name, row, text))
  const text = (raw as string | undefined) ?? row.fallback
  if (text === undefined && row.required) throw usageError(`--${name} is required.\nUsage: ${line}`)
  return text === undefined ? undefined : checkValue(name, row, text)
}

function checkValue(name: string, { oneOf: values, shape }: Option, text: string) {
  if (values) return checkOneOf(text, values, `--${name}`)
  return shape ? parseShape(shape, text, `--${name}`) : text
}

export function checkOneOf<const V extends readonly string[]>(value: string, values: V, name: string): V[number] {
  if (!values.includes(value)) throw usageError(`${name} must be one of ${values.join(', ')}.`)
  return value
}

/** Validates an option with a shape of the contract. */
function parseShape<S extends z.ZodType>(shape: S, value: string, name: string): z.output<S> {
  const parsed = shape.safeParse(value)
  if (!parsed.success) throw usageError(`${name} ${parsed.error.issues[0]?.message.replace('Must', 'must')}`)
  return parsed.data
}

export const usageError = (message: string) => setupProblem(message, 'USAGE')

export const isUsageError = ({ detail }: Problem) => typeof detail === 'object' && !Array.isArray(detail) && detail.error_type === 'USAGE'
