import type { Service } from '../app.ts'
import { type ListenOptions, listenForNotifications } from '../db/connections/notifications.ts'
import { connectDirect, type Db } from '../db/open.ts'
import { channelOf, notifier, wakeUpsIn } from './notify.ts'
import { receiveLocal, sendLocal, socketFolder } from './sockets.ts'
import { type Receivers, receive, type WakeUp } from './wake-up.ts'

/** Between machines, jobs find their work by polling. */
const betweenMachines: WakeUp['type'][] = ['team log', 'caller changed']

type Options = {
  receivers: Receivers
  db: Db
  /** The sockets of the deployment on this machine. */
  folder: string | undefined
  /** Opens a connection that bypasses a pooler. Without it, processes on other machines are not woken. */
  connect: ListenOptions['connect'] | undefined
  onError: ListenOptions['onError']
}

/** Wakes the processes of a deployment: through sockets on one machine (Gap 395), and through LISTEN and NOTIFY between machines. */
export function wakeUpsAmongProcesses({ receivers, db, folder, connect, onError }: Options) {
  const local = folder === undefined ? undefined : sendLocal(folder)
  const notifications = connect && notifier(db)
  const listeners: { close(): Promise<void> }[] = []
  return {
    send(wakeUp: WakeUp) {
      const isReceived = receive(receivers, wakeUp)
      // Work needs one process, and a change of a caller concerns all.
      if (isReceived && wakeUp.type !== 'caller changed') return
      local?.send(wakeUp)
      if (betweenMachines.includes(wakeUp.type)) notifications?.send(wakeUp)
    },
    /** Receives the wake-ups of other processes. */
    async listen() {
      const types = Object.keys(receivers) as WakeUp['type'][]
      if (!types.length) return
      const onWakeUp = (wakeUp: WakeUp) => void receive(receivers, wakeUp)
      // Not every file system has sockets.
      const receiver = folder === undefined ? undefined : await receiveLocal(folder, types, onWakeUp).catch(onError)
      if (receiver) listeners.push(receiver)
      const channels = types.filter((type) => betweenMachines.includes(type)).map(channelOf)
      const onNotification = (channel: string, payload: string) => wakeUpsIn(channel, payload).forEach(onWakeUp)
      if (connect && channels.length) listeners.push(listenForNotifications({ connect, channels, onNotification, onError }))
    },
    async stop() {
      await Promise.all([local?.close(), notifications?.stop(), ...listeners.map((listener) => listener.close())])
    },
  }
}

/** Connects a process to the others that share its database. */
export async function openWakeUps(service: Service, onError: ListenOptions['onError']) {
  const { receivers, db, vault, config, log } = service
  const { DIRECT_DATABASE_URL } = config
  const logUnavailable = ({ code }: { code?: string }) => {
    log.warn({ code }, 'DIRECT_DATABASE_URL unavailable, processes on other machines poll')
    return undefined
  }
  const connect = DIRECT_DATABASE_URL ? () => connectDirect(DIRECT_DATABASE_URL).catch(logUnavailable) : undefined
  const wakeUps = wakeUpsAmongProcesses({ receivers, db, folder: socketFolder(vault), connect, onError })
  await wakeUps.listen()
  service.wake = (type, id) => wakeUps.send({ type, id })
  return wakeUps
}
