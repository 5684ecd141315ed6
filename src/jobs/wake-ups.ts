import { receiveLocal, sendLocal, socketFolder } from '../delivery/webhooks/wake-ups/local-messages.ts'
import type { Vault } from '../platform/sealing/vault.ts'

/** The names of jobs have their own sockets, because those of deliveries carry webhooks. */
const PURPOSE = 'job wake-ups'

/** Wakes jobs in the processes on this machine that run them. On other machines, jobs find their work by polling. */
export function sendJobWakeUps(vault: Vault) {
  const folder = socketFolder(vault, PURPOSE)
  const local = folder === undefined ? undefined : sendLocal(folder)
  return { send: (job: string) => local?.send(job), stop: () => local?.close() }
}

/** Wake-ups of other processes go to `wake`. */
export async function receiveJobWakeUps(vault: Vault, wake: (job: string) => void, onError: (error: unknown) => void) {
  const folder = socketFolder(vault, PURPOSE)
  // Not every file system has sockets. Without one, jobs find their work by polling.
  const receiver = folder === undefined ? undefined : await receiveLocal(folder, wake).catch(onError)
  return { stop: async () => receiver?.close() }
}
