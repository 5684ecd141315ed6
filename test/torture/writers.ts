import { setTimeout as sleep } from 'node:timers/promises'
import { sendRequest } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { eventually } from '../support/process.ts'

/** A request; `response` is the body of a 200 response. */
export type Attempt<B, A> = { body: B; response?: A }

/** The requests of the writers. Each body has a unique name. */
export type Work<B> = { row: Row; body(name: string): B; headers?(body: B): Record<string, string> }

type Target<B> = { base: string; key: string; work: Work<B> }

const MAX_PER_WRITER = 2000
const MAX_DURATION_MS = 300_000

/** Starts clients that each write sequentially until stopped. */
export function startWriters<B, A>({ round, count, ...target }: Target<B> & { round: number; count: number }) {
  const attempts: Attempt<B, A>[] = []
  const faults: string[] = []
  const state = { stopping: false, failures: 0, acknowledged: 0 }
  const acknowledgments: { sentAt: number; at: number }[] = []
  const deadline = performance.now() + MAX_DURATION_MS

  const write = async (writer: number) => {
    for (let n = 0; n < MAX_PER_WRITER && !state.stopping && performance.now() < deadline; n++) {
      const attempt: Attempt<B, A> = { body: target.work.body(`r${round}-w${writer}-n${n}`) }
      attempts.push(attempt)
      const sentAt = performance.now()
      const fault = await send(target, attempt)
      if (fault) faults.push(fault)
      if (attempt.response) {
        state.acknowledged++
        acknowledgments.push({ sentAt, at: performance.now() })
      } else {
        state.failures++
        await sleep(50)
      }
    }
  }
  const writing = Promise.all(Array.from({ length: count }, (_, writer) => write(writer)))
  return {
    acknowledged: () => state.acknowledged,
    faults: () => faults,
    /** The time of the first response to a request that was sent after a time. */
    firstAfter: (time: number) => acknowledgments.find(({ sentAt }) => sentAt > time)?.at,
    waitForFailure: () => eventually(() => state.failures > 0, MAX_DURATION_MS),
    async stop() {
      state.stopping = true
      await writing
      return attempts
    },
  }
}

/** Sends one request and returns the fault of its response. Only 200, 503 as JSON and a lost connection are valid. */
export async function send<B, A>({ base, key, work }: Target<B>, attempt: Attempt<B, A>) {
  try {
    const headers = { 'x-service-api-key': key, ...work.headers?.(attempt.body) }
    const { status, body } = await sendRequest(base, work.row, { body: attempt.body, headers })
    if (status === 200) attempt.response = body as A
    else if (status !== 503) return `a write returned ${status} ${JSON.stringify(body)}`
    else if (!(body as { detail?: object }).detail) return `503 without a detail: ${JSON.stringify(body)}`
  } catch (error) {
    if (!(error instanceof TypeError)) return `a write failed: ${error}`
  }
  return undefined
}
