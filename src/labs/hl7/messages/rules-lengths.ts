import { formatMessage, type Message, type Segment } from '../codec/rules-message.ts'

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

/** The greatest lengths of fields in 2.5.1. Labs with older versions accept less; their profiles limit names and addresses. */
const maxLengths: Record<string, Record<number, number>> = {
  MSH: { 3: 227, 4: 227, 5: 227, 6: 227, 10: 20 },
  PID: { 2: 250, 3: 250, 5: 250, 8: 1, 11: 250, 13: 250 },
  IN1: { 8: 12, 36: 15 },
  ORC: { 2: 22, 3: 22, 4: 22, 12: 250, 20: 250 },
  OBR: { 2: 22, 3: 22, 4: 250, 13: 300, 18: 60 },
  DG1: { 4: 40 },
  OBX: { 3: 250 },
  SPM: { 2: 80 },
}

export type MessageProblem = { place: string; message: string }

/** What a lab may reject in a message that Assay writes: missing fields and fields that are too long. No value appears in it. */
export function messageProblems({ segments, delimiters }: Message): MessageProblem[] {
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
    ...Object.entries(maxLengths[segment.name] ?? {})
      .filter(([field, max]) => lengthOf(segment, Number(field)) > max)
      .map(([field, max]) => ({ place: `${segment.name}-${field}`, message: `The field has more than ${max} characters.` })),
  ])
}
