import { findAcknowledgment } from '../../src/labs/hl7/messages/rules-acknowledgment.ts'
import { decodeOrUndefined } from '../../src/labs/hl7/messages/rules-bytes.ts'
import { connectMllp, type MllpAddress } from '../../src/labs/hl7/mllp/client.ts'
import { cutOff } from '../../src/labs/hl7/mllp/cut-off.ts'
import { listenMllp, type MllpAnswer } from '../../src/labs/hl7/mllp/server.ts'
import { randomInteger } from '../support/seeded.ts'
import { type openBooks, profile, type Sent } from './lab-books.ts'

/** Of ten exchanges, this many break on purpose. */
const BROKEN = 2
const SENDERS = 4
const isBroken = () => randomInteger(1, 10) <= BROKEN
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A lab on MLLP that repeats results until they are acknowledged. */
export async function openLab(books: ReturnType<typeof openBooks>, port: number, to: MllpAddress) {
  function handle(bytes: Buffer): MllpAnswer {
    const answers = books.take(bytes)
    return isBroken() ? { answers: [], closes: true } : { answers }
  }

  async function sendUntilAcknowledged(report: Sent) {
    const bytes = Buffer.from(report.bytes, 'base64')
    const acknowledgmentIn = (one: Buffer) => findAcknowledgment(decodeOrUndefined(profile, one), report.control_id)
    for (;;) {
      if (isBroken()) await cutOff(to, bytes)
      const connection = connectMllp(to)
      try {
        const answer = await connection.send(bytes, { timeoutMs: 5_000, isAnswer: (one) => !!acknowledgmentIn(one) })
        books.acknowledge(report, acknowledgmentIn(answer)?.code ?? '', answer)
        // A lab that misses the acknowledgment repeats the message.
        if (!isBroken()) return
      } catch {
        await sleep(100)
      } finally {
        connection.close()
      }
    }
  }

  async function send() {
    for (;;) {
      const report = books.next()
      if (report) await sendUntilAcknowledged(report)
      else await sleep(20)
    }
  }

  await listenMllp({ host: '127.0.0.1', port, handle })
  for (let i = 0; i < SENDERS; i++) void send()
}
