import { resolve } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { pino } from 'pino'
import type { z } from 'zod'
import type { App } from '../app.ts'
import { readConfig } from '../config.ts'
import { borrowEmbedded, hasCluster } from '../db/embedded.ts'
import { checkSettings } from '../deployment/actions.ts'
import { type Problem, setupProblem } from '../problem.ts'
import { openApp } from '../start.ts'

export type Command = { usage: string; summary: string; run(args: string[]): Promise<void> }

export const usage = (message: string) => setupProblem(message, 'USAGE')

export const usageProblem = ({ detail }: Problem) => typeof detail === 'object' && !Array.isArray(detail) && detail.error_type === 'USAGE'

/** The options of a command; a wrong one is refused by its name. An argument is not repeated: it may be a key. */
export function options<const O extends ParseArgsOptionsConfig>(args: string[], wanted: O, line: string) {
  const parsed = parsedArgs(args, { ...wanted, json: { type: 'boolean' } } as const, line)
  if (parsed.positionals.length) throw usage(`Every value needs the option it is for.\nUsage: ${line}`)
  return parsed
}

function parsedArgs<const O extends ParseArgsOptionsConfig>(args: string[], options: O, line: string) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw usage(`${(error as Error).message}\nUsage: ${line}`)
  }
}

export const required = (value: string | undefined, name: string, line: string) => {
  if (value === undefined) throw usage(`${name} is missing.\nUsage: ${line}`)
  return value
}

export function oneOf<const V extends readonly string[]>(value: string, values: V, name: string): V[number] {
  if (!values.includes(value)) throw usage(`${name} must be one of ${values.join(', ')}.`)
  return value
}

/** An option that has a shape in the contract. */
export function shaped<S extends z.ZodType>(shape: S, value: string, name: string): z.output<S> {
  const parsed = shape.safeParse(value)
  if (!parsed.success) throw usage(`${name} ${parsed.error.issues[0]?.message.replace('Must', 'must')}`)
  return parsed.data
}

/** Runs an operator's command on the database, whether the service is running or not. `founding`: there need not be one yet. */
export async function withApp<T>(work: (app: App) => Promise<T>, founding = false): Promise<T> {
  const config = readConfig()
  checkSettings(config)
  if (!founding && !config.DATABASE_URL && !hasCluster(config.DATA_DIR))
    throw setupProblem(
      `There is no database in DATA_DIR ${resolve(config.DATA_DIR)}; start the service there first, or name the right folder`,
    )
  await using opened = new AsyncDisposableStack()
  const { app } = await openApp(config, pino({ level: 'silent' }), borrowEmbedded, opened, founding)
  return await work(app)
}

/** The result as JSON, or as lines for a person. */
export const print = (json: boolean | undefined, result: unknown, lines: string[]) =>
  console.log(json ? JSON.stringify(result, null, 2) : lines.join('\n'))
