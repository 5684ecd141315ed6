import { randomInt } from 'node:crypto'
import type { PoolConnection } from '../../../platform/db/open.ts'
import { NOTIFY_CHANNEL, WORKER_LOCK } from './store-lanes.ts'

const RETRY_MS = 100

type LeaseOptions = {
  connect(): Promise<PoolConnection>
  /** The worker holds its lease under this number. */
  onAcquired(worker: number): void
  onNotification(payload: string | undefined): void
  onError(error: unknown): void
}

/**
 * The connection that proves a worker is alive: it holds an advisory lock on the worker's number. Without it the worker counts as dead.
 * It gets its next lease under a new number, so that lanes it claimed after losing the old one are freed.
 */
export function newWorkerLease({ connect, onAcquired, onNotification, onError }: LeaseOptions) {
  let connection: PoolConnection | undefined
  let ended = false

  async function acquire(): Promise<void> {
    if (ended) return
    const client = await connect().catch(onError)
    if (!client) return void setTimeout(acquire, RETRY_MS)
    let lost = false
    const drop = () => {
      if (lost) return
      lost = true
      connection = undefined
      client.release(true)
      setTimeout(acquire, RETRY_MS)
    }
    client.once('error', drop)
    client.on('notification', ({ payload }) => onNotification(payload))
    const worker = newWorkerNumber()
    try {
      await client.query('select pg_advisory_lock($1, $2)', [WORKER_LOCK, worker])
      await client.query(`listen ${NOTIFY_CHANNEL}`)
    } catch (error) {
      onError(error)
      return drop()
    }
    if (lost) return
    // After end() nothing else releases the client, and closing the pool would wait for it.
    if (ended) return drop()
    connection = client
    onAcquired(worker)
  }

  return {
    acquire,
    isHeld: () => connection !== undefined,
    end() {
      ended = true
      connection?.removeAllListeners('notification')
      connection?.release(true)
      connection = undefined
    },
  }
}

export const newWorkerNumber = () => randomInt(1, 2 ** 31 - 1)
