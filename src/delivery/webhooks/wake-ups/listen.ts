import type { Connection } from '../../../platform/db/open.ts'
import { NOTIFY_CHANNEL } from './store-notify.ts'

/** Between two attempts to connect: short at first, because a failover takes seconds, and longer while a setting is wrong. */
const [MIN_RETRY_MS, MAX_RETRY_MS] = [100, 10_000]

export type ListenOptions = {
  /** Opens a connection that belongs to the listener. A transaction pooler cannot provide it. Undefined if it failed. */
  connect(): Promise<Connection | undefined>
  onPayload(payload: string): void
  onError(error: unknown): void
}

/** Listens for notifications and reconnects when the connection is lost. */
export function listenForPayloads({ connect, onPayload, onError }: ListenOptions) {
  let connection: Connection | undefined
  let ended = false
  let retryMs = MIN_RETRY_MS

  function retry() {
    setTimeout(open, retryMs)
    retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)
  }

  async function open(): Promise<void> {
    if (ended) return
    const client = await connect().catch(onError)
    if (!client) return retry()
    let lost = false
    const drop = () => {
      if (lost) return
      lost = true
      connection = undefined
      client.end().catch(() => {})
      retry()
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
    retryMs = MIN_RETRY_MS
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
