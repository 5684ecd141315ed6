import { randomUUID } from 'node:crypto'
import type { Db } from '../../platform/db/open.ts'
import { SECOND } from '../../platform/time.ts'
import * as store from './store-workers.ts'

const LEASE_SECONDS = 5
const RENEW_MS = 2 * SECOND
const RETRY_MS = SECOND / 10

type LeaseOptions = {
  db: Db
  /** The worker holds its lease under this ID. */
  onAcquired(worker: string): void
  onError(error: unknown): void
}

/**
 * The row that proves a worker is alive, which it renews. A worker whose lease expired counts as dead.
 * It gets its next lease under a new ID, so that the teams it took just before are taken over.
 */
export function newWorkerLease({ db, onAcquired, onError }: LeaseOptions) {
  let worker = randomUUID() as string
  let heldUntil = 0
  let isAcquired = false
  let ended = false
  let timer: NodeJS.Timeout | undefined
  let renewing: Promise<void> | undefined

  const isHeld = () => performance.now() < heldUntil
  const isLost = () => isAcquired && !isHeld()

  async function renew(): Promise<void> {
    if (isLost()) {
      worker = randomUUID()
      isAcquired = false
    }
    if (!isAcquired) await store.pruneWorkers(db)
    // The database starts the lease later than this, so it ends here first.
    const startedAt = performance.now()
    await store.renewWorker(db, worker, LEASE_SECONDS)
    if (ended) return
    // The renewal came too late: others may have taken over teams for which this worker is still sending.
    if (isLost()) {
      await store.deleteWorker(db, worker)
      return renew()
    }
    heldUntil = startedAt + LEASE_SECONDS * SECOND
    if (isAcquired || !isHeld()) return
    isAcquired = true
    onAcquired(worker)
  }

  function keepRenewing(): Promise<void> {
    renewing = renew()
      .then(
        () => RENEW_MS,
        (error) => {
          onError(error)
          return RETRY_MS
        },
      )
      .then((waitMs) => {
        if (!ended) timer = setTimeout(keepRenewing, waitMs)
      })
    return renewing
  }

  return {
    /** Returns after the first attempt. */
    acquire: keepRenewing,
    isHeld,
    async end() {
      ended = true
      clearTimeout(timer)
      await renewing
      heldUntil = 0
      await store.deleteWorker(db, worker).catch(onError)
    },
  }
}
