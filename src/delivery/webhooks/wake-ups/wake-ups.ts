import type { Db } from '../../../platform/db/open.ts'
import { type ListenOptions, listenForPayloads } from './listen.ts'
import { receiveLocal, sendLocal } from './local-messages.ts'
import { notifier } from './notify.ts'

/** Wakes the workers of teams whose logs have something new. Workers also poll, so a lost wake-up only delays a delivery. */
export type WakeUps = {
  send(team_ids: Iterable<string>): void
  /** Wake-ups go to `wake`, in a process that delivers. */
  listen(wake: (team_ids: Iterable<string>) => void): Promise<void>
  stop(): Promise<void>
}

/** Wake-ups within one process. */
export function wakeUpsInProcess(): WakeUps {
  let wakeWorker: Parameters<WakeUps['listen']>[0] = () => {}
  return {
    send: (team_ids) => wakeWorker(team_ids),
    async listen(wake) {
      wakeWorker = wake
    },
    stop: async () => {},
  }
}

type Options = {
  db: Db
  /** The sockets of the deployment on this machine. */
  folder: string | undefined
  /** Opens a connection that bypasses a pooler. Without it, workers on other machines find new messages by polling. */
  connect: ListenOptions['connect'] | undefined
  onError: ListenOptions['onError']
}

/**
 * Wake-ups among the processes of a deployment: through sockets on one machine, and through LISTEN and NOTIFY between machines.
 * A process that delivers wakes only itself.
 */
export function wakeUpsAmongProcesses({ db, folder, connect, onError }: Options): WakeUps {
  const local = folder === undefined ? undefined : sendLocal(folder)
  const notifications = connect && notifier(db)
  let wakeWorker: ((team_ids: Iterable<string>) => void) | undefined
  const listeners: { close(): Promise<void> }[] = []
  return {
    send(team_ids) {
      if (wakeWorker) return wakeWorker(team_ids)
      const woken = [...team_ids]
      local?.send(woken.join())
      notifications?.send(woken)
    },
    async listen(wake) {
      wakeWorker = wake
      const onPayload = (payload: string) => wake(payload.split(','))
      // Not every file system has sockets. Without one, the worker finds new messages by polling.
      const receiver = folder === undefined ? undefined : await receiveLocal(folder, onPayload).catch(onError)
      if (receiver) listeners.push(receiver)
      if (connect) listeners.push(listenForPayloads({ connect, onPayload, onError }))
    },
    async stop() {
      local?.close()
      notifications?.stop()
      await Promise.all(listeners.map((listener) => listener.close()))
    },
  }
}
