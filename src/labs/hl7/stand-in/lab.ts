import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND } from '../../../platform/time.ts'
import { findAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { decodeOrUndefined } from '../messages/rules-bytes.ts'
import { connectMllp, type MllpAddress } from '../mllp/client.ts'
import { cutOff } from '../mllp/cut-off.ts'
import { listenMllp, type MllpAnswer } from '../mllp/server.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { type Desk, LATE_MS, openDesk } from './desk.ts'
import type { Outgoing } from './reports.ts'

const TIMEOUT_MS = 10 * SECOND
const ATTEMPTS = 5

type StandIn = Omit<Desk, 'results'> & {
  host: string
  port: number
  /** Where results go. Without it, the stand-in sends none. */
  results?: (MllpAddress & NonNullable<Desk['results']>) | undefined
}

/** A lab on MLLP that accepts the orders of a profile and reports results. */
export async function startStandIn({ host, port, ...options }: StandIn) {
  const { profile, misbehavior, results } = options
  const desk = openDesk(
    options,
    results &&
      (async (messages) => {
        const codes: string[] = []
        for (const message of messages) {
          if (misbehavior === 'broken_pipe') await cutOff(results, message.bytes)
          codes.push(await send(profile, results, message))
        }
        return codes
      }),
  )

  function handle(bytes: Buffer): MllpAnswer {
    const answers = misbehavior === 'disconnect' ? undefined : desk.answer(bytes)
    if (!answers) return { answers: [], closes: true }
    return misbehavior === 'late_answer' ? { answers, delayMs: LATE_MS } : { answers }
  }

  const listening = await listenMllp({ host, port, handle })
  return {
    port: listening.port,
    async [Symbol.asyncDispose]() {
      desk.close()
      await listening[Symbol.asyncDispose]()
    },
  }
}

/** Sends a message until it is acknowledged, and returns the code. */
async function send(profile: Profile, to: MllpAddress, { control_id, bytes }: Outgoing) {
  const acknowledgmentIn = (one: Buffer) => findAcknowledgment(decodeOrUndefined(profile, one), control_id)
  for (let attempt = 1; ; attempt++) {
    const connection = connectMllp(to)
    try {
      const answer = await connection.send(bytes, { timeoutMs: TIMEOUT_MS, isAnswer: (one) => !!acknowledgmentIn(one) })
      return acknowledgmentIn(answer)?.code ?? ''
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await sleep(attempt * SECOND, undefined, { ref: false })
    } finally {
      connection.close()
    }
  }
}
