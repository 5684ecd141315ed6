import { createHash } from 'node:crypto'
import type { Message } from '../../src/labs/hl7/codec/rules-message.ts'
import { readValue, segmentOf } from '../../src/labs/hl7/codec/rules-read.ts'
import { decodeMessage, encodeMessage } from '../../src/labs/hl7/messages/rules-bytes.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import { reportMessage } from '../../src/labs/hl7/stand-in/report-message.ts'
import { answersTo, judgeOrder } from '../../src/labs/hl7/stand-in/rules-answers.ts'

export const PROFILE = 'orm-2.3-grouped'
export const profile = readBuiltIn(PROFILE)

export type Sent = { control_id: string; bytes: Buffer; codes: string[]; acknowledgments: Set<string>; ms: number }

/** What a lab remembers across its own restarts: every order, and the results that it has to send. */
export function openBooks() {
  const orders = new Map<string, { message: Message; digest: string; count: number; answers: Buffer[] }>()
  const faults: string[] = []
  const queue: Message[] = []
  const reports: Sent[] = []
  let count = 0

  function accept(message: Message) {
    const verdict = judgeOrder(message, profile)
    if (verdict.code !== 'AA') faults.push(`an order was rejected with ${verdict.code}`)
    const sent_at = new Date().toISOString()
    return answersTo(message, { verdict, sent_at, controlId: () => `LAB${++count}` }).map((answer) => encodeMessage(profile, answer))
  }

  return {
    ...{ orders, faults, queue, reports },
    /** Takes an order, and returns the same answers if it comes again. */
    take(bytes: Buffer) {
      const message = decodeMessage(profile, bytes)
      const control_id = readValue(segmentOf(message, 'MSH'), 10)
      const digest = createHash('sha256').update(bytes).digest('hex')
      const known = orders.get(control_id)
      if (known && known.digest !== digest) faults.push(`${control_id} was repeated with other content`)
      const answers = known?.answers ?? accept(message)
      orders.set(control_id, { message, digest, count: (known?.count ?? 0) + 1, answers })
      if (!known) queue.push(message)
      return answers
    },
    report(order: Message): Sent {
      const control_id = `RES${++count}`
      const measurements = { markers: [], analytes: [] }
      const message = reportMessage(order, {
        ...{ profile, control_id, measurements, kind: 'final', seed: 'torture', sent_at: new Date().toISOString() },
        code: '2093-3',
      })
      const report = { control_id, bytes: encodeMessage(profile, message), codes: [], acknowledgments: new Set<string>(), ms: 0 }
      reports.push(report)
      return report
    },
    isIdle: () => !queue.length && reports.every(({ codes }) => codes.length > 0),
  }
}
