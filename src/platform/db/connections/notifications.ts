import { sql } from 'kysely'
import type { Connection, Db } from '../open.ts'

/** Between two attempts to connect: short at first, because a failover takes seconds, and longer while a setting is wrong. */
const [MIN_RETRY_MS, MAX_RETRY_MS] = [100, 10_000]

export const notify = (db: Db, channel: string, payload: string) => sql`select pg_notify(${channel}, ${payload})`.execute(db)

export type ListenOptions = {
  /** Opens a connection that belongs to the listener. A transaction pooler cannot provide it. Undefined if it failed. */
  connect(): Promise<Connection | undefined>
  channels: string[]
  onNotification(channel: string, payload: string): void
  onError(error: unknown): void
}

/** Listens for notifications and reconnects when the connection is lost. */
export function listenForNotifications({ connect, channels, onNotification, onError }: ListenOptions) {
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
    client.on('notification', ({ channel, payload }) => payload && onNotification(channel, payload))
    try {
      for (const channel of channels) await client.query(`listen "${channel}"`)
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
