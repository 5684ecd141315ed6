import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readSync, truncateSync, writeFileSync } from 'node:fs'
import type { Message } from '../../src/labs/hl7/codec/rules-message.ts'
import { readValue, segmentOf } from '../../src/labs/hl7/codec/rules-read.ts'
import { decodeMessage, encodeMessage } from '../../src/labs/hl7/messages/rules-bytes.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import { reportMessage } from '../../src/labs/hl7/stand-in/report-message.ts'
import { answersTo, judgeOrder } from '../../src/labs/hl7/stand-in/rules-answers.ts'

export const PROFILE = 'orm-2.3-grouped'
export const profile = readBuiltIn(PROFILE)

/** Bytes in the journal are base64. */
type Entry =
  | { type: 'message'; control_id: string; digest: string; bytes: string; answers: string[] }
  | { type: 'repeated'; control_id: string }
  | { type: 'report'; control_id: string; order: string; bytes: string; at: number }
  | { type: 'acknowledged'; control_id: string; code: string; answer: string; at: number }
  | { type: 'fault'; text: string }

type Received = { digest: string; count: number; bytes: string; answers: string[]; report?: string }
export type Sent = { control_id: string; bytes: string; at: number; ms: number; codes: string[]; acknowledgments: Set<string> }

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** What a lab knows: every message of Assay, every result that it has sent, and what went wrong. */
function emptyState() {
  return { messages: new Map<string, Received>(), reports: new Map<string, Sent>(), faults: [] as string[] }
}
type State = ReturnType<typeof emptyState>

function apply({ messages, reports, faults }: State, entry: Entry) {
  if (entry.type === 'message') messages.set(entry.control_id, { ...entry, count: 1 })
  else if (entry.type === 'repeated') (messages.get(entry.control_id) as Received).count++
  else if (entry.type === 'fault') faults.push(entry.text)
  else if (entry.type === 'report') {
    ;(messages.get(entry.order) as Received).report = entry.control_id
    reports.set(entry.control_id, { ...entry, ms: 0, codes: [], acknowledgments: new Set() })
  } else {
    const report = reports.get(entry.control_id) as Sent
    report.ms ||= entry.at - report.at
    report.codes.push(entry.code)
    report.acknowledgments.add(entry.answer)
  }
}

/** Follows the journal that a lab writes. It survives the lab, which can be killed at any moment. */
export function readBooks(journal: string) {
  const state = emptyState()
  let read = 0
  function refresh() {
    const file = openSync(journal, 'r')
    const bytes = Buffer.alloc(fstatSync(file).size - read)
    readSync(file, bytes, 0, bytes.length, read)
    closeSync(file)
    const end = bytes.lastIndexOf('\n') + 1
    for (const line of bytes.toString('utf8', 0, end).split('\n')) if (line) apply(state, JSON.parse(line))
    read += end
    return state
  }
  return { refresh, length: () => read }
}

/** The books of a running lab. Everything is in the journal before the other side hears of it. */
export function openBooks(journal: string) {
  if (!existsSync(journal)) writeFileSync(journal, '')
  const books = readBooks(journal)
  const state = books.refresh()
  // The line that a killed lab was writing.
  truncateSync(journal, books.length())
  let count = state.messages.size + state.reports.size

  function write(entry: Entry) {
    appendFileSync(journal, `${JSON.stringify(entry)}\n`)
    apply(state, entry)
  }

  function accept(message: Message) {
    const verdict = judgeOrder(message, profile)
    if (verdict.code !== 'AA') write({ type: 'fault', text: `a message was rejected with ${verdict.code}` })
    const sent_at = new Date().toISOString()
    return answersTo(message, { verdict, sent_at, controlId: () => `LAB${++count}` }).map((answer) => encodeMessage(profile, answer))
  }

  /** The order of messages: a lab that hears of a cancellation first would process the order later. */
  function checkOrder(message: Message, control_id: string) {
    const isCancellation = actionOf(message) === 'CA'
    if (isCancellation && !state.messages.has(control_id.replace(/C$/, '')))
      write({ type: 'fault', text: `${control_id} cancels an order that the lab does not have yet` })
  }

  function writeReport(order: string): Sent {
    const control_id = `RES${++count}`
    const message = reportMessage(decoded(state.messages.get(order) as Received), {
      ...{ profile, control_id, kind: 'final', seed: 'torture', sent_at: new Date().toISOString() },
      ...{ measurements: { markers: [], analytes: [] }, code: '2093-3' },
    })
    write({ type: 'report', control_id, order, bytes: encodeMessage(profile, message).toString('base64'), at: Date.now() })
    return state.reports.get(control_id) as Sent
  }

  /** Results to send: those that a killed lab had begun to send, and orders without results. */
  const queue: (Sent | string)[] = [...state.reports.values()].filter(({ codes }) => !codes.length)
  for (const [control_id, received] of state.messages) if (!received.report && isReported(decoded(received))) queue.push(control_id)

  return {
    /** Takes a message, and returns the same answers if it comes again. */
    take(bytes: Buffer) {
      const message = decodeMessage(profile, bytes)
      const control_id = readValue(segmentOf(message, 'MSH'), 10)
      const digest = digestOf(bytes)
      const known = state.messages.get(control_id)
      if (known && known.digest !== digest) write({ type: 'fault', text: `${control_id} was repeated with other content` })
      if (known) write({ type: 'repeated', control_id })
      else {
        checkOrder(message, control_id)
        const answers = accept(message).map((answer) => answer.toString('base64'))
        write({ type: 'message', control_id, digest, bytes: bytes.toString('base64'), answers })
        if (isReported(message)) queue.push(control_id)
      }
      return (state.messages.get(control_id) as Received).answers.map((answer) => Buffer.from(answer, 'base64'))
    },
    /** The next result to send until it is acknowledged. */
    next(): Sent | undefined {
      const first = queue.shift()
      return typeof first === 'string' ? writeReport(first) : first
    },
    acknowledge: ({ control_id }: Sent, code: string, answer: Buffer) =>
      write({ type: 'acknowledged', control_id, code, answer: digestOf(answer), at: Date.now() }),
  }
}

const decoded = ({ bytes }: Received) => decodeMessage(profile, Buffer.from(bytes, 'base64'))

const actionOf = (message: Message) => readValue(segmentOf(message, 'ORC'), 1)

/** The orders with priority are canceled, so they have no results. */
const isReported = (message: Message) => actionOf(message) === 'NW' && readValue(segmentOf(message, 'OBR'), 5) !== 'S'
