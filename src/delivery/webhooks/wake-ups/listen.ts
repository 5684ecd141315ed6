import type { Connection } from '../../../platform/db/open.ts'
import { NOTIFY_CHANNEL } from './store-notify.ts'

const RETRY_MS = 100

export type ListenOptions = {
  /** Opens a connection that belongs to the listener. A transaction pooler cannot provide it. */
  connect(): Promise<Connection>
  onPayload(payload: string): void
  onError(error: unknown): void
}

/** Listens for notifications and reconnects when the connection is lost. */
export function listenForPayloads({ connect, onPayload, onError }: ListenOptions) {
  let connection: Connection | undefined
  let ended = false

  async function open(): Promise<void> {
    if (ended) return
    const client = await connect().catch(onError)
    if (!client) return void setTimeout(open, RETRY_MS)
    let lost = false
    const drop = () => {
      if (lost) return
      lost = true
      connection = undefined
      client.end().catch(() => {})
      setTimeout(open, RETRY_MS)
    }
    client.on('error', drop)
    client.on('end', drop)
    client.on('notification', ({ payload }) => payload && onPayload(payload))
    try {
      await client.query(`listen ${NOTIFY_CHANNEL}`)
    } catch (error) {
      onError(error)
      return drop()
    }
    if (lost) return
    if (ended) return drop()
    connection = client
  }
  void open()

  return {
    async close() {
      ended = true
      connection?.removeAllListeners('notification')
      await connection?.end().catch(() => {})
      connection = undefined
    },
  }
}
