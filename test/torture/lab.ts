import { findAcknowledgment } from '../../src/labs/hl7/messages/rules-acknowledgment.ts'
import { decodeOrUndefined } from '../../src/labs/hl7/messages/rules-bytes.ts'
import { connectMllp, type MllpAddress } from '../../src/labs/hl7/mllp/client.ts'
import { cutOff } from '../../src/labs/hl7/mllp/cut-off.ts'
import { listenMllp, type MllpAnswer } from '../../src/labs/hl7/mllp/server.ts'
import { randomInteger } from '../support/seeded.ts'
import { openBooks, profile, type Sent } from './lab-books.ts'

/** Of ten exchanges, this many break on purpose. */
const BROKEN = 2
const SENDERS = 4
const isBroken = () => randomInteger(1, 10) <= BROKEN

/** A lab that loses nothing: it remembers every order across its own restarts, and repeats results until they are acknowledged. */
export async function openLab(port: number, to: MllpAddress) {
  const books = openBooks()
  let stopping = false
  let listening = await listenMllp({ host: '127.0.0.1', port, handle })

  function handle(bytes: Buffer): MllpAnswer {
    const answers = books.take(bytes)
    return isBroken() ? { answers: [], closes: true } : { answers }
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
      const order = books.queue.shift()
      if (order) await sendUntilAcknowledged(books.report(order))
      else await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const sending = Promise.all(Array.from({ length: SENDERS }, send))

  return {
    ...books,
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
