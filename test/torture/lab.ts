import { createHash } from 'node:crypto'
import type { Message } from '../../src/labs/hl7/codec/rules-message.ts'
import { readValue, segmentOf } from '../../src/labs/hl7/codec/rules-read.ts'
import { findAcknowledgment } from '../../src/labs/hl7/messages/rules-acknowledgment.ts'
import { decodeMessage, decodeOrUndefined, encodeMessage } from '../../src/labs/hl7/messages/rules-bytes.ts'
import { connectMllp, type MllpAddress } from '../../src/labs/hl7/mllp/client.ts'
import { cutOff } from '../../src/labs/hl7/mllp/cut-off.ts'
import { listenMllp, type MllpAnswer } from '../../src/labs/hl7/mllp/server.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import { reportMessage } from '../../src/labs/hl7/stand-in/report-message.ts'
import { answersTo, judgeOrder } from '../../src/labs/hl7/stand-in/rules-answers.ts'
import { randomInteger } from '../support/seeded.ts'

export const PROFILE = 'orm-2.3-grouped'

type Sent = { control_id: string; bytes: Buffer; codes: string[]; acknowledgments: Set<string>; ms: number }

/** Of ten exchanges, this many break on purpose. */
const BROKEN = 2
const SENDERS = 4
const isBroken = () => randomInteger(1, 10) <= BROKEN

export type DurableLab = Awaited<ReturnType<typeof openLab>>

/** A lab that loses nothing: it remembers every order across its own restarts, and repeats results until they are acknowledged. */
export async function openLab(port: number, to: MllpAddress) {
  const profile = readBuiltIn(PROFILE)
  const orders = new Map<string, { message: Message; digest: string; count: number; answers: Buffer[] }>()
  const faults: string[] = []
  const queue: Message[] = []
  const reports: Sent[] = []
  let count = 0
  let stopping = false
  let listening = await listenMllp({ host: '127.0.0.1', port, handle })

  function handle(bytes: Buffer): MllpAnswer {
    const message = decodeMessage(profile, bytes)
    const control_id = readValue(segmentOf(message, 'MSH'), 10)
    const digest = createHash('sha256').update(bytes).digest('hex')
    const known = orders.get(control_id)
    if (known && known.digest !== digest) faults.push(`${control_id} was repeated with other content`)
    const answers = known?.answers ?? accept(message)
    orders.set(control_id, { message, digest, count: (known?.count ?? 0) + 1, answers })
    if (!known) queue.push(message)
    return isBroken() ? { answers: [], closes: true } : { answers }
  }

  function accept(message: Message) {
    const verdict = judgeOrder(message, profile)
    if (verdict.code !== 'AA') faults.push(`an order was rejected with ${verdict.code}`)
    const sent_at = new Date().toISOString()
    return answersTo(message, { verdict, sent_at, controlId: () => `LAB${++count}` }).map((answer) => encodeMessage(profile, answer))
  }

  function reportOf(order: Message): Sent {
    const control_id = `RES${++count}`
    const measurements = { markers: [], analytes: [] }
    const message = reportMessage(order, {
      ...{ profile, control_id, measurements, kind: 'final', seed: 'torture', sent_at: new Date().toISOString() },
      code: '2093-3',
    })
    return { control_id, bytes: encodeMessage(profile, message), codes: [], acknowledgments: new Set(), ms: 0 }
  }

  async function sendUntilAcknowledged(report: Sent) {
    const startedAt = performance.now()
    const isAnswer = (one: Buffer) => !!findAcknowledgment(decodeOrUndefined(profile, one), report.control_id)
    while (!stopping) {
      if (isBroken()) await cutOff(to, report.bytes)
      const connection = connectMllp(to)
      try {
        const answer = await connection.send(report.bytes, { timeoutMs: 5_000, isAnswer })
        report.codes.push(findAcknowledgment(decodeOrUndefined(profile, answer), report.control_id)?.code ?? '')
        report.acknowledgments.add(answer.toString('latin1'))
        report.ms = performance.now() - startedAt
        // A lab that misses the acknowledgment repeats the message.
        if (!isBroken()) return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100))
      } finally {
        connection.close()
      }
    }
  }

  async function send() {
    while (!stopping) {
      const order = queue.shift()
      if (!order) await new Promise((resolve) => setTimeout(resolve, 20))
      else {
        const report = reportOf(order)
        reports.push(report)
        await sendUntilAcknowledged(report)
      }
    }
  }
  const sending = Promise.all(Array.from({ length: SENDERS }, send))

  return {
    orders,
    reports,
    faults,
    isIdle: () => !queue.length && reports.every(({ codes }) => codes.length > 0),
    /** Ends every connection, and listens again. */
    async restart() {
      await listening[Symbol.asyncDispose]()
      listening = await listenMllp({ host: '127.0.0.1', port, handle })
    },
    async close() {
      stopping = true
      await sending
      await listening[Symbol.asyncDispose]()
    },
  }
}
