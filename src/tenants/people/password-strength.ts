import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type Caches, declareCache } from '../../platform/caches.ts'
import { SECOND } from '../../platform/time.ts'
import type { Estimate } from './password-thread.ts'
import * as rules from './rules.ts'

type Service = { caches: Caches }

/** The list of common passwords takes 20 MB, so the thread that has it ends when it is idle for this long. */
const IDLE_MS = 10 * SECOND

type ThreadState = { thread?: Worker | undefined; idle?: NodeJS.Timeout; last: Promise<unknown> }

const threadState = declareCache((): ThreadState => ({ last: Promise.resolve() }))

/** Refuses a password that is short, contains the name of the person, or is easy to guess. */
export async function checkNewPassword(service: Service, password: string, account: { email: string; org_name: string }) {
  rules.checkPassword(password, account.email)
  rules.checkGuesses(await estimateGuesses(service, { password, words: rules.guessableWords(account) }))
}

/** The guesses that an attacker needs, as a power of ten. One thread estimates one password at a time. */
function estimateGuesses(service: Service, estimate: Estimate): Promise<number> {
  const state = threadState(service)
  const guesses = state.last.then(() => askThread(state, estimate))
  state.last = guesses.catch(() => {})
  return guesses
}

async function askThread(state: ThreadState, estimate: Estimate) {
  clearTimeout(state.idle)
  state.thread ??= new Worker(new URL('./password-thread.ts', import.meta.url))
  const { thread } = state
  const end = () => {
    state.thread = undefined
    return thread.terminate()
  }
  thread.ref()
  thread.postMessage(estimate)
  try {
    const [guesses] = (await once(thread, 'message')) as [number]
    // An idle thread does not keep the process alive.
    thread.unref()
    state.idle = setTimeout(end, IDLE_MS).unref()
    return guesses
  } catch (error) {
    await end()
    throw error
  }
}
