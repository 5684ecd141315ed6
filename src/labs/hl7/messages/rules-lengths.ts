import { delimitersOf } from '../codec/rules-delimiters.ts'
import { escapeText } from '../codec/rules-escapes.ts'
import { formatMessage, type Message, type Segment } from '../codec/rules-message.ts'
import { readValue, segmentOf } from '../codec/rules-read.ts'
import type { Profile } from '../profiles/rules-profile.ts'

/** Fields that the structure of 2.5.1 requires. */
const required: Record<string, number[]> = {
  MSH: [7, 9, 10, 11, 12],
  PV1: [2],
  IN1: [1],
  GT1: [1, 3],
  ORC: [1],
  OBR: [4],
  DG1: [1, 3],
  OBX: [3, 11],
  SPM: [4],
}

type Lengths = Record<string, Record<number, number>>

/** The greatest lengths of fields in 2.5 and 2.5.1. */
const maxLengths: Lengths = {
  MSH: { 3: 227, 4: 227, 5: 227, 6: 227, 10: 20 },
  PID: { 2: 20, 3: 250, 4: 20, 5: 250, 8: 1, 11: 250, 13: 250, 18: 250 },
  PV1: { 7: 250 },
  IN1: { 2: 250, 3: 250, 4: 250, 5: 250, 8: 12, 16: 250, 19: 250, 36: 15 },
  GT1: { 3: 250, 5: 250, 6: 250 },
  ORC: { 2: 22, 3: 22, 4: 22, 12: 250, 20: 250 },
  OBR: { 2: 22, 3: 22, 4: 250, 13: 300, 15: 300, 16: 250, 18: 60 },
  DG1: { 3: 250, 4: 40 },
  OBX: { 3: 250 },
  SPM: { 2: 80, 4: 250 },
}

const in24: Lengths = { MSH: { 3: 180, 4: 180, 5: 180, 6: 180 } }

const in231: Lengths = {
  ...in24,
  PID: { 2: 20, 3: 20, 4: 20, 5: 48, 11: 106, 13: 40, 18: 20 },
  PV1: { 7: 60 },
  IN1: { 2: 60, 3: 59, 4: 130, 5: 106, 16: 48, 19: 106 },
  GT1: { 3: 48, 5: 106, 6: 40 },
  ORC: { 12: 120, 20: 40 },
  OBR: { 4: 200, 16: 120 },
  DG1: { 3: 60 },
  OBX: { 3: 80 },
}

const in23: Lengths = { ...in231, PID: { ...in231['PID'], 2: 16, 4: 12 }, IN1: { ...in231['IN1'], 2: 8 }, OBX: { 3: 590 } }

/** Lengths that were shorter in an older version. */
const olderLengths: Record<string, Lengths> = { '2.3': in23, '2.3.1': in231, '2.4': in24 }

export const maxLengthOf = (version: string, name: string, field: number): number | undefined =>
  olderLengths[version]?.[name]?.[field] ?? maxLengths[name]?.[field]

/** The beginning of a text that fits into a field, as it is written with escapes, beside `others` characters. */
export function fitting({ version, message }: Profile, name: string, field: number, text: string, others = 0): string {
  const delimiters = delimitersOf('|', message.encoding_characters)
  const max = maxLengthOf(version, name, field) ?? Number.POSITIVE_INFINITY
  const letters = Array.from(text)
  while (letters.length && escapeText(letters.join(''), delimiters).length + others > max) letters.pop()
  return letters.join('').trimEnd()
}

export type MessageProblem = { place: string; message: string }

/** What a lab may reject in a message that Assay writes: missing fields and fields that are too long. No value appears in it. */
export function messageProblems({ segments, delimiters }: Message): MessageProblem[] {
  const version = readValue(segmentOf({ segments }, 'MSH'), 12)
  const lengthOf = (segment: Segment, field: number) => {
    const written = formatMessage({ delimiters, segments: [{ name: 'ZZZ', fields: [segment.fields[field - 1] ?? []] }] }, '')
    return Math.max(0, written.length - 4)
  }
  return segments.flatMap((segment) => [
    ...(required[segment.name] ?? [])
      .filter((field) => !segment.fields[field - 1]?.length)
      .map((field) => ({ place: `${segment.name}-${field}`, message: 'The field is required.' })),
    ...(segment.name === 'PID' && ![2, 3, 4].some((field) => segment.fields[field - 1]?.length)
      ? [{ place: 'PID-3', message: 'The patient ID is required.' }]
      : []),
    ...Object.keys(maxLengths[segment.name] ?? {}).flatMap((field) => {
      const max = maxLengthOf(version, segment.name, Number(field)) as number
      const isTooLong = lengthOf(segment, Number(field)) > max
      return isTooLong ? [{ place: `${segment.name}-${field}`, message: `The field has more than ${max} characters.` }] : []
    }),
  ])
}
