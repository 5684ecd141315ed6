import { decodeBytes, encodeText } from '../codec/rules-charset.ts'
import { formatMessage, type Message, parseMessage } from '../codec/rules-message.ts'
import { readValue, segmentOf, segmentsOf } from '../codec/rules-read.ts'
import { listenMllp, type MllpAnswer } from '../mllp/server.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { answersTo, judgeOrder, type Verdict } from './rules-answers.ts'

/** What the stand-in does wrong on request. */
export const misbehaviors = ['no_answer', 'late_answer', 'wrong_answer', 'disconnect', 'reject'] as const
export type Misbehavior = (typeof misbehaviors)[number]

const LATE_MS = 5_000

type StandIn = {
  profile: Profile
  host: string
  port: number
  misbehavior?: Misbehavior | undefined
  /** Hears of every message: its control ID, the actions of its orders and the verdict. No personal data. */
  onMessage(received: { control_id: string; actions: string[]; code: string }): void
}

/** A lab on MLLP that accepts the orders of a profile. A repeated message gets the same answers. */
export function startStandIn({ profile, host, port, misbehavior, onMessage }: StandIn) {
  const answered = new Map<string, Uint8Array[]>()
  let count = 0

  function answersFor(message: Message, control_id: string) {
    const verdict: Verdict =
      misbehavior === 'reject' ? { code: 'AE', problem: { code: '199', text: 'Rejected on request.' } } : judgeOrder(message, profile)
    onMessage({ control_id, actions: segmentsOf(message, 'ORC').map((orc) => readValue(orc, 1)), code: verdict.code })
    const sent_at = new Date().toISOString()
    const answers = answersTo(message, { verdict, sent_at, controlId: () => `SIM${++count}` })
    return answers.map((answer) => encodeText(formatMessage(answer), profile.message.charset))
  }

  function handle(bytes: Buffer): MllpAnswer {
    const message = parseOrUndefined(bytes, profile)
    if (!message || misbehavior === 'disconnect') return { answers: [], closes: true }
    const control_id = readValue(segmentOf(message, 'MSH'), 10)
    const answers = answered.get(control_id) ?? answersFor(message, control_id)
    answered.set(control_id, answers)
    if (misbehavior === 'no_answer') return { answers: [] }
    if (misbehavior === 'wrong_answer') return { answers: answers.map((answer) => replaceId(answer, control_id)) }
    return misbehavior === 'late_answer' ? { answers, delayMs: LATE_MS } : { answers }
  }

  return listenMllp({ host, port, handle })
}

const replaceId = (answer: Uint8Array, control_id: string) =>
  Buffer.from(Buffer.from(answer).toString('latin1').replaceAll(control_id, 'OTHER'), 'latin1')

function parseOrUndefined(bytes: Buffer, { message }: Profile) {
  try {
    const { text, charset } = decodeBytes(bytes, message.charset)
    return parseMessage(text, charset)
  } catch {
    return undefined
  }
}
