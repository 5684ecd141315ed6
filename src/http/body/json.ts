import { isUtf8 } from 'node:buffer'
import { invalid } from '../../platform/problem.ts'
import { checkText } from '../input.ts'
import { parseInSlices } from './parse-in-slices.ts'

/** Longer bodies are parsed in slices. */
export const LONG_BODY = 256 * 1024

export async function parseJson(bytes: Buffer): Promise<unknown> {
  if (!bytes.length) return undefined
  if (!isUtf8(bytes)) throw notJson('it is not UTF-8')
  try {
    if (bytes.length > LONG_BODY) return await parseInSlices(bytes, { check: (path, value) => checkText(value, 'body', ...path) })
    const value = JSON.parse(bytes.toString()) as unknown
    checkText(value, 'body')
    return value
  } catch (error) {
    throw error instanceof SyntaxError ? notJson(locationIn(error.message)) : error
  }
}

const notJson = (why?: string) => invalid(['body'], `The body is not valid JSON${why ? `: ${why}` : ''}.`, 'json_invalid')

/** Returns only the location, because the parser's own message quotes the body. */
function locationIn(message: string) {
  if (/^Unexpected end/.test(message)) return 'it ends too early'
  const location = /at position \d+ \(line (\d+) column (\d+)\)/.exec(message)
  if (location) return `check line ${location[1]}, column ${location[2]}`
  const slice = /after byte (\d+)/.exec(message)
  return slice ? `check the text after byte ${slice[1]}` : undefined
}
