import type { Charset } from './rules-charset.ts'
import { type Delimiters, delimitersOf, encodingCharactersOf, headerNames } from './rules-delimiters.ts'
import { escapeText, unescapeParts } from './rules-escapes.ts'
import { hl7Problem } from './rules-problems.ts'

/** The subcomponents of a component. Empty parts at the end are left out at every level, so an empty field is `[]`. */
export type Component = string[]
export type Repetition = Component[]
export type Field = Repetition[]
/** Field n is `fields[n - 1]`. MSH-1 and MSH-2 hold the delimiters themselves. */
export type Segment = { name: string; fields: Field[] }
export type Message = { delimiters: Delimiters; segments: Segment[] }

/** Limits that keep parsing short. Large messages are a PDF in one field, perhaps with escaped line breaks, or many short fields. */
export const limits = { bytes: 20 * 1024 * 1024, segments: 10_000, values: 50_000, escapes: 200_000 }

/** Parses one message, or the header of a file or batch. Segments end with CR, LF or CRLF. Unknown segments are kept. */
export function parseMessage(text: string, charset: Charset = 'ASCII'): Message {
  const lines = segmentLines(text)
  const header = lines[0] ?? ''
  if (!headerNames.includes(header.slice(0, 3))) throw hl7Problem('sequence', 'The message must begin with MSH.')
  const separator = header.charAt(3)
  const [, encodingCharacters = ''] = header.split(separator, 2)
  const delimiters = delimitersOf(separator, encodingCharacters)
  const budget = { values: limits.values, escapes: limits.escapes }
  const segments = lines.map((line, i) => parseSegment(withoutNul(line), { delimiters, charset, budget, position: i + 1 }))
  return { delimiters, segments }
}

/** HL7 text has no NUL, and PostgreSQL cannot store one. */
const withoutNul = (text: string) => (text.includes('\0') ? text.replaceAll('\0', '') : text)

/** Splits into segments. A line feed inside a segment is text of the segment: some labs do not escape it. */
function segmentLines(text: string): string[] {
  const lines: string[] = []
  const all = text.trimStart()
  const budget = { segments: limits.segments }
  for (const part of splitWithin(all, '\r', budget, 'segments')) {
    const [first = '', ...others] = splitWithin(part, '\n', budget, 'segments')
    if (first.trim()) lines.push(first)
    for (const other of others) appendLine(lines, other, all.charAt(3))
  }
  return lines
}

function appendLine(lines: string[], line: string, separator: string) {
  const isSegment = namePattern.test(line.slice(0, 3)) && [separator, ''].includes(line.charAt(3))
  if (isSegment || !lines.length) lines.push(line)
  else if (line.trim()) lines[lines.length - 1] += `\n${line}`
}

const namePattern = /^[A-Z][A-Z0-9]{2}$/

type Parsing = { delimiters: Delimiters; charset: Charset; budget: { values: number; escapes: number }; position: number }

function parseSegment(line: string, parsing: Parsing): Segment {
  const { delimiters, position } = parsing
  const [name = '', ...texts] = splitWithin(line, delimiters.field, parsing.budget, 'values')
  if (!namePattern.test(name)) throw hl7Problem('sequence', `Line ${position} does not begin with the name of a segment.`)
  if (!headerNames.includes(name)) return { name, fields: trimEnd(texts.map((text) => parseField(text, parsing))) }
  if (texts[0] !== encodingCharactersOf(delimiters) || line.charAt(3) !== delimiters.field)
    throw hl7Problem('sequence', `Line ${position} is a second header.`)
  const declared: Field[] = [[[[delimiters.field]]], [[[encodingCharactersOf(delimiters)]]]]
  return { name, fields: [...declared, ...trimEnd(texts.slice(1).map((text) => parseField(text, parsing)))] }
}

function parseField(text: string, parsing: Parsing): Field {
  const { repetition, component, subcomponent, escaper } = parsing.delimiters
  // Most fields are one value.
  if (![repetition, component, subcomponent, escaper].some((delimiter) => text.includes(delimiter))) return text ? [[[text]]] : []
  return parseParts(text, repetition, parsing, (text) =>
    parseParts(text, component, parsing, (text) => parseParts(text, subcomponent, parsing, (text) => parseText(text, parsing))),
  )
}

const parseParts = <T extends string | unknown[]>(text: string, delimiter: string, parsing: Parsing, parse: (text: string) => T): T[] =>
  text ? trimEnd(splitWithin(text, delimiter, parsing.budget, 'values').map(parse)) : []

const parseText = (text: string, { delimiters, charset, budget }: Parsing) =>
  text.includes(delimiters.escaper) ? unescapeParts(splitWithin(text, delimiters.escaper, budget, 'escapes'), delimiters, charset) : text

function trimEnd<T extends string | unknown[]>(parts: T[]): T[] {
  const last = parts.findLastIndex((part) => part.length)
  return last === parts.length - 1 ? parts : parts.slice(0, last + 1)
}

/** Splits a text and counts the parts against the budget of the whole message. */
function splitWithin<K extends string>(text: string, delimiter: string, budget: Record<K, number>, what: K) {
  const parts = text.split(delimiter, budget[what] + 2)
  budget[what] -= parts.length - 1
  if (budget[what] < 0) throw hl7Problem('tooLong', `The message has too many ${what}.`)
  return parts
}

/** Writes a message. Each segment ends with CR, unless a file needs another end. */
export const formatMessage = ({ delimiters, segments }: Message, lineEnd = '\r') =>
  segments.map((segment) => formatSegment(segment, delimiters) + lineEnd).join('')

function formatSegment({ name, fields }: Segment, delimiters: Delimiters) {
  const isHeader = headerNames.includes(name)
  const texts = (isHeader ? fields.slice(2) : fields).map((field) => formatField(field, delimiters))
  const start = isHeader ? [name, encodingCharactersOf(delimiters)] : [name]
  return [...start, ...trimEnd(texts)].join(delimiters.field)
}

const formatField = (field: Field, delimiters: Delimiters) =>
  trimEnd(
    field.map((repetition) => trimEnd(repetition.map((component) => formatComponent(component, delimiters))).join(delimiters.component)),
  ).join(delimiters.repetition)

const formatComponent = (component: Component, delimiters: Delimiters) =>
  trimEnd(component.map((text) => escapeText(text, delimiters))).join(delimiters.subcomponent)
