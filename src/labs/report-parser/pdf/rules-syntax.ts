/** A value of a PDF file. Names begin with a slash, and strings are Latin-1. */
export type Value = number | string | boolean | null | Value[] | Dictionary | Reference | Operator
export type Dictionary = { dictionary: Map<string, Value> }
export type Reference = { ref: number }
/** A word that is no value: an operator of a content stream, or a keyword of the file. */
export type Operator = { operator: string }

const MAX_DEPTH = 32
const SPACE = /[\0\t\n\f\r ]/
const DELIMITER = /[\0\t\n\f\r ()<>[\]{}/%]/

/** Reads values from a text. It never reads a character twice, so hostile text takes no more than linear time. */
export function newReader(text: string, start = 0) {
  let at = start

  const skipSpace = () => {
    while (at < text.length) {
      const character = text[at] as string
      if (character === '%') while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++
      else if (SPACE.test(character)) at++
      else return
    }
  }

  const word = () => {
    const begin = at
    while (at < text.length && !DELIMITER.test(text[at] as string)) at++
    // A delimiter that begins nothing, such as a stray bracket.
    if (at === begin) at++
    return text.slice(begin, at)
  }

  const literal = () => {
    const parts: string[] = []
    for (let depth = 1; at < text.length; at++) {
      const character = text[at] as string
      if (character === '\\') parts.push(text[++at] ?? '')
      else {
        if (character === '(') depth++
        if (character === ')' && --depth === 0) break
        parts.push(character)
      }
    }
    at++
    return parts.join('')
  }

  const hex = () => {
    const begin = at
    while (at < text.length && text[at] !== '>') at++
    const digits = text.slice(begin, at++).replace(/[^0-9A-Fa-f]/g, '')
    return Buffer.from(digits.padEnd(digits.length + (digits.length % 2), '0'), 'hex').toString('latin1')
  }

  const listUntil = (end: string, depth: number) => {
    const values: Value[] = []
    for (;;) {
      skipSpace()
      if (at >= text.length) return values
      if (text.startsWith(end, at)) {
        at += end.length
        return values
      }
      const value = next(depth + 1)
      if (isOperator(value, 'R') && values.length >= 2) values.splice(-2, 2, { ref: values.at(-2) as number })
      else if (value !== undefined) values.push(value)
    }
  }

  const dictionary = (depth: number): Dictionary => {
    const values = listUntil('>>', depth)
    const map = new Map<string, Value>()
    for (let i = 0; i + 1 < values.length; i += 2) if (typeof values[i] === 'string') map.set(values[i] as string, values[i + 1] as Value)
    return { dictionary: map }
  }

  /** The next value. Undefined at the end. */
  const next = (depth = 0): Value | undefined => {
    skipSpace()
    if (at >= text.length || depth > MAX_DEPTH) {
      at = text.length
      return undefined
    }
    const character = text[at] as string
    if (character === '/') {
      at++
      return `/${/[A-Za-z0-9_]/.test(text[at] ?? '') ? word() : ''}`
    }
    if (text.startsWith('<<', at)) {
      at += 2
      return dictionary(depth)
    }
    at += '(<['.includes(character) ? 1 : 0
    if (character === '(') return literal()
    if (character === '<') return hex()
    if (character === '[') return listUntil(']', depth)
    return valueOfWord(word())
  }

  return { next, position: () => at }
}

export type Reader = ReturnType<typeof newReader>

function valueOfWord(word: string): Value {
  if (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(word)) return Number(word)
  if (word === 'true' || word === 'false') return word === 'true'
  return word === 'null' ? null : { operator: word }
}

export const isOperator = (value: Value | undefined, name: string) =>
  typeof value === 'object' && value !== null && 'operator' in value && value.operator === name

export const isDictionary = (value: Value | undefined): value is Dictionary =>
  typeof value === 'object' && value !== null && 'dictionary' in value

export const isReference = (value: Value | undefined): value is Reference => typeof value === 'object' && value !== null && 'ref' in value
