import type { Message } from '../codec/rules-message.ts'
import { readValue, segmentOf, segmentsOf } from '../codec/rules-read.ts'
import type { Verdict } from '../messages/rules-acknowledgment.ts'
import { decodeOrUndefined, encodeMessage } from '../messages/rules-bytes.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import type { ReportKind } from './report-message.ts'
import { type Deliver, openReports, type ReportMisbehavior, reportMisbehaviors } from './reports.ts'
import { answersTo, judgeOrder } from './rules-answers.ts'

/** What the stand-in does wrong with orders on request. */
const orderMisbehaviors = ['no_answer', 'late_answer', 'wrong_answer', 'disconnect', 'reject', 'refuse_cancel'] as const
/** What it does wrong with files on request. MLLP has none. */
export const fileMisbehaviors = ['half_file', 'wrong_count'] as const
export const misbehaviors = [...orderMisbehaviors, ...reportMisbehaviors, ...fileMisbehaviors] as const
export type Misbehavior = (typeof misbehaviors)[number]

export const LATE_MS = 5_000

export type Desk = {
  profile: Profile
  misbehavior?: Misbehavior | undefined
  /** How long after the order its results follow, and which. */
  results?: { seed: string; afterMs: number; plan?: ReportKind[] } | undefined
  /** Hears of every message: its control ID, the actions of its orders and the verdict. No personal data. */
  onMessage(received: { control_id: string; actions: string[]; code: string }): void
  onReport?(sent: { control_id: string; kind: ReportKind; code: string }): void
  onError?(error: unknown): void
}

/** Accepts the orders of a profile and reports results. A repeated message gets the same answers. */
export function openDesk(
  { profile, misbehavior, results, onMessage, onReport = () => {}, onError = () => {} }: Desk,
  deliver: Deliver | undefined,
) {
  const answered = new Map<string, Buffer[]>()
  const planned = new Set<NodeJS.Timeout>()
  let count = 0
  const controlId = () => `SIM${Date.now().toString(36)}${++count}`.toUpperCase()
  const fault = reportMisbehaviors.find((one): one is ReportMisbehavior => one === misbehavior)
  const reports = results && deliver && openReports({ profile, deliver, seed: results.seed, misbehavior: fault, controlId, onReport })

  function judge(message: Message, control_id: string) {
    const actions = segmentsOf(message, 'ORC').map((orc) => readValue(orc, 1))
    const verdict: Verdict =
      misbehavior === 'reject' ? { code: 'AE', problem: { code: '199', text: 'Rejected on request.' } } : judgeOrder(message, profile)
    onMessage({ control_id, actions, code: verdict.code })
    if (verdict.code === 'AA' && actions.includes('NW')) plan(message)
    const sent_at = new Date().toISOString()
    const answers = answersTo(message, { verdict, sent_at, controlId, refusesCancel: misbehavior === 'refuse_cancel' })
    return answers.map((answer) => encodeMessage(profile, answer))
  }

  function plan(order: Message) {
    if (reports && results) later(results.afterMs, () => reports.reportAll(order, results.plan).catch(onError))
  }

  function later(ms: number, work: () => unknown) {
    const timer = setTimeout(() => {
      planned.delete(timer)
      work()
    }, ms)
    planned.add(timer)
  }

  return {
    later,
    /** The answers to a message; undefined if it is not HL7. */
    answer(bytes: Buffer): Buffer[] | undefined {
      const message = decodeOrUndefined(profile, bytes)
      if (!message) return undefined
      const control_id = readValue(segmentOf(message, 'MSH'), 10)
      const answers = answered.get(control_id) ?? judge(message, control_id)
      answered.set(control_id, answers)
      if (misbehavior === 'no_answer') return []
      return misbehavior === 'wrong_answer' ? answers.map((answer) => replaceId(answer, control_id)) : answers
    },
    close() {
      for (const timer of planned) clearTimeout(timer)
    },
  }
}

const replaceId = (answer: Buffer, control_id: string) => Buffer.from(answer.toString('latin1').replaceAll(control_id, 'OTHER'), 'latin1')
