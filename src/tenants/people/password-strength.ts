import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Estimate } from './password-thread.ts'
import * as rules from './rules.ts'

/** Refuses a password that is short, contains the name of the person, or is easy to guess. */
export async function checkNewPassword(password: string, account: { email: string; org_name: string }) {
  rules.checkPassword(password, account.email)
  rules.checkGuesses(await estimateGuesses({ password, words: rules.guessableWords(account) }))
}

/** The guesses that an attacker needs, as a power of ten. The list of common passwords takes 20 MB, so it ends with the thread. */
async function estimateGuesses(estimate: Estimate) {
  const thread = new Worker(new URL('./password-thread.ts', import.meta.url), { workerData: estimate })
  const [guesses] = (await once(thread, 'message')) as [number]
  await thread.terminate()
  return guesses
}
