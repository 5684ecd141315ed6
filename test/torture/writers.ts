import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../../src/contract/client.ts'
import type { Answer } from '../../src/contract/endpoint.ts'
import { type Endpoints, endpoints } from '../../src/contract/index.ts'
import { people } from '../support/people.ts'
import { eventually } from '../support/process.ts'

export type User = Answer<Endpoints['createUser']>
export type NewUser = ReturnType<typeof aUser>
/** A creation that was sent; `user` is the answer if it was 200. */
export type Attempt = { body: NewUser; user?: User }
export type Ledger = { attempts: Attempt[] }

export const newLedger = (): Ledger => ({ attempts: [] })

const MOST_PER_WRITER = 2000
const LONGEST_MS = 60_000

type Target = { base: string; key: string; round: number; count: number }

/** Clients that create users one after the other, each on its own, until they are stopped. */
export function startWriters(ledger: Ledger, target: Target) {
  const attempts: Attempt[] = []
  const faults: string[] = []
  const state = { stopping: false, failures: 0, acknowledged: 0 }
  const deadline = performance.now() + LONGEST_MS

  const write = async (writer: number) => {
    for (let n = 0; n < MOST_PER_WRITER && !state.stopping && performance.now() < deadline; n++) {
      const attempt: Attempt = { body: aUser(`r${target.round}-w${writer}-n${n}`) }
      attempts.push(attempt)
      const fault = await create(target, attempt)
      if (fault) faults.push(fault)
      if (attempt.user) state.acknowledged++
      else {
        state.failures++
        await sleep(50)
      }
    }
  }
  const writing = Promise.all(Array.from({ length: target.count }, (_, writer) => write(writer)))
  return {
    acknowledged: () => state.acknowledged,
    faults: () => faults,
    fail: () => eventually(() => state.failures > 0, LONGEST_MS),
    async stop() {
      if (!state.stopping) {
        state.stopping = true
        await writing
        ledger.attempts.push(...attempts)
      }
      return { attempts }
    },
  }
}

/** Sends one creation and says what is wrong with the answer: only 200, 503 as JSON and a lost connection are right. */
async function create({ base, key }: Target, attempt: Attempt) {
  try {
    const { status, body } = await request(base, endpoints.createUser, { body: attempt.body, headers: { 'x-service-api-key': key } })
    if (status === 200) attempt.user = body as User
    else if (status !== 503) return `${attempt.body.client_user_id} was answered ${status} ${JSON.stringify(body)}`
    else if (!(body as { detail?: object }).detail) return `503 without a reason: ${JSON.stringify(body)}`
  } catch (error) {
    if (!(error instanceof TypeError)) return `${attempt.body.client_user_id}: ${error}`
  }
  return undefined
}

const aUser = (client_user_id: string) => ({
  client_user_id,
  fallback_time_zone: 'Europe/Berlin',
  fallback_birth_date: people[client_user_id.length % people.length]?.dob as string,
  ingestion_start: '2026-01-01',
})
