import { hl7Problem } from './rules-problems.ts'

export const MAX_BATCH_MESSAGES = 10_000
const STEP_BYTES = 256 * 1024

/** FHS and FTS are around a file, BHS and BTS around a batch. Either envelope can be missing. */
const names = ['MSH', 'FHS', 'BHS', 'BTS', 'FTS'] as const
type Name = (typeof names)[number]
type Part = { name: Name; bytes: Buffer }

const codeOf = (name: string) => (name.charCodeAt(0) << 16) | (name.charCodeAt(1) << 8) | name.charCodeAt(2)
const namesByCode = new Map(names.map((name) => [codeOf(name), name]))

/**
 * The messages of a file: one, several, or batches. A count that differs and a trailer that is missing throw, because the file
 * may have been cut off. It splits bytes and not text, because each message declares its own character set.
 */
export function splitFile(bytes: Buffer): Buffer[] {
  const { next, messages } = fileSplitter(bytes)
  while (next());
  return messages()
}

/** Splits a file in steps that take a few milliseconds: `next` until it returns false, then `messages`. */
export function fileSplitter(bytes: Buffer) {
  const starts: Start[] = []
  let at = 0
  return {
    next() {
      const end = Math.min(at + STEP_BYTES, bytes.length)
      findStarts(bytes, at, end, starts)
      at = end
      return at < bytes.length
    },
    messages: () => messagesIn(partsOf(bytes, starts)),
  }
}

function messagesIn(parts: Part[]): Buffer[] {
  const messages: Buffer[] = []
  let batches = 0
  let counted = 0
  /** The envelopes that are open. */
  const open = { FHS: false, BHS: false }
  for (const { name, bytes } of parts) {
    if (name === 'MSH') messages.push(bytes)
    else if (name === 'FHS' || name === 'BHS') {
      if (open[name]) throw missingTrailer(name)
      open[name] = true
      if (name === 'FHS') batches = 0
    } else if (name === 'BTS') {
      counted = checkCount(bytes, messages.length, counted)
      open.BHS = false
      batches++
    } else {
      if (open.BHS) throw missingTrailer('BHS')
      if (batches) checkBatches(bytes, batches)
      open.FHS = false
    }
  }
  for (const name of ['BHS', 'FHS'] as const) if (open[name]) throw missingTrailer(name)
  return messages
}

type Start = { name: Name; at: number }

/** One pass over the bytes: a file can have many megabytes, and lines that end with CR, LF or both. */
function findStarts(bytes: Buffer, from: number, to: number, starts: Start[]) {
  let isLineStart = from === 0 || bytes[from - 1] === 0x0d || bytes[from - 1] === 0x0a
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number
    if (isLineStart && (byte === 0x4d || byte === 0x46 || byte === 0x42)) {
      const name = nameAt(bytes, at)
      if (name) starts.push({ name, at })
      if (starts.length > 4 * MAX_BATCH_MESSAGES) throw tooMany()
    }
    isLineStart = byte === 0x0d || byte === 0x0a
  }
}

function partsOf(bytes: Buffer, starts: Start[]): Part[] {
  const first = starts[0]
  if (!first || bytes.toString('latin1', 0, Math.min(first.at, 100)).trim())
    throw hl7Problem('sequence', 'The file must begin with FHS, BHS or MSH.')
  if (starts.filter(({ name }) => name === 'MSH').length > MAX_BATCH_MESSAGES) throw tooMany()
  return starts.map(({ name, at }, i) => ({ name, bytes: bytes.subarray(at, starts[i + 1]?.at) }))
}

const tooMany = () => hl7Problem('tooLong', `The file has more than ${MAX_BATCH_MESSAGES} messages.`)

/** A segment of the file itself. Its name is followed by a separator or by the end of the line. */
function nameAt(bytes: Buffer, at: number) {
  const name = namesByCode.get(((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0))
  const next = bytes[at + 3]
  return name && (next === undefined || /^[!-/:-@[-`{-~\r\n]$/.test(String.fromCharCode(next))) ? name : undefined
}

const missingTrailer = (name: 'FHS' | 'BHS') =>
  hl7Problem('sequence', `The file is not complete: ${name} has no ${name === 'FHS' ? 'FTS' : 'BTS'}.`)

/** BTS-1 is the number of messages of a batch. It can be empty. */
function checkCount(trailer: Buffer, found: number, before: number) {
  const stated = statedCount(trailer)
  if (stated !== undefined && stated !== found - before)
    throw hl7Problem('sequence', `BTS-1 is ${stated}, and the batch has ${found - before} messages.`)
  return found
}

/** FTS-1 is the number of batches of a file. */
function checkBatches(trailer: Buffer, found: number) {
  const stated = statedCount(trailer)
  if (stated !== undefined && stated !== found) throw hl7Problem('sequence', `FTS-1 is ${stated}, and the file has ${found} batches.`)
}

function statedCount(trailer: Buffer) {
  const line = trailer.toString('latin1', 0, 200).split(/[\r\n]/, 1)[0] ?? ''
  const [, stated = ''] = line.split(line.charAt(3) || '|')
  return /^\d{1,9}$/.test(stated.trim()) ? Number(stated) : undefined
}
