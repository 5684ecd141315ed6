import type { LabMessageSegment } from '../../../contract/labs/lab-messages.ts'

/**
 * The fields that identify no patient and have no value of a result: control fields, numbers of orders, codes of tests, units
 * and statuses. Every other field is personal, and so is every segment that is not listed.
 */
const codeFields: Record<string, number[] | 'all'> = {
  MSH: 'all',
  MSA: [1, 2],
  ERR: [1, 2, 3, 4],
  PID: [1],
  PV1: [1],
  IN1: [1],
  GT1: [1],
  DG1: [1, 2],
  ORC: [1, 2, 3, 4, 5],
  TQ1: [1, 9],
  OBR: [1, 2, 3, 4, 11, 24, 25],
  OBX: [1, 2, 3, 4, 6, 11],
  NTE: [1, 2],
  SPM: [1, 2, 4, 21],
}

/** An embedded PDF has millions of characters. */
const MAX_LENGTH = 2000

/** The segments of a message, or of several after one another. Fields stay as they are on the wire; empty ones are left out. */
export function segmentsOf(text: string): LabMessageSegment[] {
  const separator = /^MSH(.)/.exec(text.trimStart())?.[1] ?? '|'
  return text
    .replaceAll('\n', '\r')
    .split('\r')
    .filter((line) => line.trim())
    .map((line) => segmentOf(line, separator))
}

function segmentOf(line: string, separator: string): LabMessageSegment {
  const isSegment = /^[A-Z][A-Z0-9]{2}$/.test(line.slice(0, 3)) && [separator, ''].includes(line.charAt(3))
  // A lab forgot to escape a line break: the line continues the field before it.
  if (!isSegment) return { name: '', fields: [fieldOf('', 0, line)] }
  const name = line.slice(0, 3)
  const texts = line.slice(4).split(separator)
  // MSH-1 is the separator itself.
  const first = name === 'MSH' ? 2 : 1
  return { name, fields: texts.flatMap((text, i) => (text ? [fieldOf(name, first + i, text)] : [])) }
}

function fieldOf(name: string, position: number, whole: string): LabMessageSegment['fields'][number] {
  const codes = codeFields[name]
  const isCode = codes === 'all' || codes?.includes(position)
  const text = whole.slice(0, MAX_LENGTH)
  return { position, code: isCode ? text : null, value: isCode ? null : text, omitted: whole.length - text.length }
}
