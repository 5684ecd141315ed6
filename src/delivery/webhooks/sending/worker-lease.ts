import { randomInt } from 'node:crypto'
import type { PoolConnection } from '../../../platform/db/open.ts'
import { CHANNEL, WORKERS } from './store-lanes.ts'

const RETRY = 100

type Holding = {
  connect(): Promise<PoolConnection>
  /** The worker holds its lease under this number. */
  held(worker: number): void
  heard(payload: string | undefined): void
  failed(error: unknown): void
}

/**
 * The connection that proves a worker is alive: it holds an advisory lock on the worker's number. Without it the worker counts as dead.
 * It returns under a new number, so that lanes it claimed without knowing are freed.
 */
export function newWorkerLease({ connect, held, heard, failed }: Holding) {
  let line: PoolConnection | undefined
  let ended = false

  async function hold(): Promise<void> {
    if (ended) return
    const client = await connect().catch(failed)
    if (!client) return void setTimeout(hold, RETRY)
    let lost = false
    const lose = () => {
      if (lost) return
      lost = true
      line = undefined
      client.release(true)
      setTimeout(hold, RETRY)
    }
    client.once('error', lose)
    client.on('notification', ({ payload }) => heard(payload))
    const worker = newWorkerNumber()
    try {
      await client.query('select pg_advisory_lock($1, $2)', [WORKERS, worker])
      await client.query(`listen ${CHANNEL}`)
    } catch (error) {
      failed(error)
      return lose()
    }
    if (lost) return
    // Nothing would release it anymore, and closing the pool would wait for it.
    if (ended) return lose()
    line = client
    held(worker)
  }

  return {
    hold,
    isHeld: () => line !== undefined,
    end() {
      ended = true
      line?.removeAllListeners('notification')
      line?.release(true)
      line = undefined
    },
  }
}

export const newWorkerNumber = () => randomInt(1, 2 ** 31 - 1)
