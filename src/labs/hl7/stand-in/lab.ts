import type { Message } from '../codec/rules-message.ts'
import { readValue, segmentOf, segmentsOf } from '../codec/rules-read.ts'
import type { Verdict } from '../messages/rules-acknowledgment.ts'
import { decodeOrUndefined, encodeMessage } from '../messages/rules-bytes.ts'
import type { MllpAddress } from '../mllp/client.ts'
import { listenMllp, type MllpAnswer } from '../mllp/server.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import type { ReportKind } from './report-message.ts'
import { openReports, type ReportMisbehavior, reportMisbehaviors } from './reports.ts'
import { answersTo, judgeOrder } from './rules-answers.ts'

/** What the stand-in does wrong with orders on request, besides what it does wrong with results. */
const orderMisbehaviors = ['no_answer', 'late_answer', 'wrong_answer', 'disconnect', 'reject', 'refuse_cancel'] as const
export const misbehaviors = [...orderMisbehaviors, ...reportMisbehaviors] as const
export type Misbehavior = (typeof misbehaviors)[number]

const LATE_MS = 5_000

type StandIn = {
  profile: Profile
  host: string
  port: number
  misbehavior?: Misbehavior | undefined
  /** Where results go, and how long after the order. Without it, the stand-in sends none. */
  results?: (MllpAddress & { seed: string; afterMs: number; plan?: ReportKind[] }) | undefined
  /** Hears of every message: its control ID, the actions of its orders and the verdict. No personal data. */
  onMessage(received: { control_id: string; actions: string[]; code: string }): void
  onReport?(sent: { control_id: string; kind: ReportKind; code: string }): void
  onError?(error: unknown): void
}

/** A lab on MLLP that accepts the orders of a profile and reports results. A repeated message gets the same answers. */
export async function startStandIn({
  profile,
  host,
  port,
  misbehavior,
  results,
  onMessage,
  onReport = () => {},
  onError = () => {},
}: StandIn) {
  const answered = new Map<string, Uint8Array[]>()
  const planned = new Set<NodeJS.Timeout>()
  let count = 0
  const controlId = () => `SIM${Date.now().toString(36)}${++count}`.toUpperCase()
  const fault = reportMisbehaviors.find((one): one is ReportMisbehavior => one === misbehavior)
  const reports = results && openReports({ profile, to: results, seed: results.seed, misbehavior: fault, controlId, onReport })

  function answersFor(message: Message, control_id: string) {
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
    if (!reports || !results) return
    const timer = setTimeout(() => {
      planned.delete(timer)
      reports.reportAll(order, results.plan).catch(onError)
    }, results.afterMs)
    planned.add(timer)
  }

  function handle(bytes: Buffer): MllpAnswer {
    const message = decodeOrUndefined(profile, bytes)
    if (!message || misbehavior === 'disconnect') return { answers: [], closes: true }
    const control_id = readValue(segmentOf(message, 'MSH'), 10)
    const answers = answered.get(control_id) ?? answersFor(message, control_id)
    answered.set(control_id, answers)
    if (misbehavior === 'no_answer') return { answers: [] }
    if (misbehavior === 'wrong_answer') return { answers: answers.map((answer) => replaceId(answer, control_id)) }
    return misbehavior === 'late_answer' ? { answers, delayMs: LATE_MS } : { answers }
  }

  const listening = await listenMllp({ host, port, handle })
  return {
    port: listening.port,
    async [Symbol.asyncDispose]() {
      for (const timer of planned) clearTimeout(timer)
      await listening[Symbol.asyncDispose]()
    },
  }
}

const replaceId = (answer: Uint8Array, control_id: string) =>
  Buffer.from(Buffer.from(answer).toString('latin1').replaceAll(control_id, 'OTHER'), 'latin1')
