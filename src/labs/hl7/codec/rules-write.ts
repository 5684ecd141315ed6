import { type Delimiters, encodingCharactersOf } from './rules-delimiters.ts'
import { type Field, type Message, parseMessage, type Repetition, type Segment } from './rules-message.ts'

type Part = string | string[] | null | undefined
/** A value, or its components. A component is a value, or its subcomponents. */
export type Cell = string | null | undefined | Part[]

/** A segment from its fields by number. Absent fields are empty. */
export function segment(name: string, cells: Record<number, Cell | { repetitions: Cell[] }>): Segment {
  const last = Math.max(0, ...Object.keys(cells).map(Number))
  return { name, fields: Array.from({ length: last }, (_, i) => fieldFrom(cells[i + 1])) }
}

function fieldFrom(cell: Cell | { repetitions: Cell[] }): Field {
  if (cell && typeof cell === 'object' && 'repetitions' in cell) return cell.repetitions.map(repetitionFrom)
  return cell ? [repetitionFrom(cell)] : []
}

const repetitionFrom = (cell: Cell): Repetition =>
  (Array.isArray(cell) ? cell : [cell]).map((part) => (Array.isArray(part) ? part : [part ?? '']))

/** A message with its header. */
export function message(delimiters: Delimiters, header: Record<number, Cell | { repetitions: Cell[] }>, rest: Segment[]): Message {
  const declared = { 1: delimiters.field, 2: encodingCharactersOf(delimiters) }
  return { delimiters, segments: [segment('MSH', { ...declared, ...header }), ...rest] }
}

/** Components from text such as `^^^ASSAY^PI`, as profiles write them. */
export const componentsOf = (text: string): string[][] => parseMessage(`MSH|^~\\&|${text}`).segments[0]?.fields[2]?.[0] ?? []

/** A value followed by the components of a profile, such as `^^^ASSAY^PI`. */
export const withSuffix = (value: string, suffix: string): Cell => {
  const [, ...others] = componentsOf(suffix)
  return value ? [value, ...others] : null
}
