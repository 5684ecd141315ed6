import type pg from 'pg'
import { newFairQueue } from '../../shares/fair-queue.ts'
import { currentShare } from '../../shares/share.ts'
import { sweeper } from '../../shares/sweep.ts'

/** Work of the service itself, such as jobs and common writes. It goes first, because requests of all teams can wait for it. */
const SERVICE = ''

type Waiting = { owner: string; since: number; start(): void; refuse(error: Error): void }

/** One connection is always left for others, so that the slow statements of one team cannot take all. */
const reserveOf = (max: number) => (max > 3 ? 1 : 0)

/**
 * Hands out the connections of a pool. While all of them are taken, teams take turns: the one whose statements have used the
 * least time gets the next connection. The pool itself would serve in the order of arrival, so a team with a hundred requests
 * would delay everyone else.
 */
export function newFairPool(pool: pg.Pool) {
  const queue = newFairQueue<Waiting>()
  const takenBy = new Map<string, number>()
  let taken = 0

  const hasRoom = (owner: string) =>
    taken < pool.options.max && (owner === SERVICE || (takenBy.get(owner) ?? 0) < pool.options.max - reserveOf(pool.options.max))
  const count = (owner: string, by: 1 | -1) => {
    taken += by
    const ofOwner = (takenBy.get(owner) ?? 0) + by
    if (ofOwner) takenBy.set(owner, ofOwner)
    else takenBy.delete(owner)
  }
  const serveNext = () => {
    while (queue.size) {
      const next = queue.take((owner) => owner === SERVICE && hasRoom(owner)) ?? queue.take(hasRoom)
      if (!next) return
      count(next.owner, 1)
      next.start()
    }
  }
  const giveBack = (owner: string, since: number) => {
    count(owner, -1)
    queue.charge(owner, performance.now() - since)
    serveNext()
  }
  const checkOut = async (owner: string) => {
    const since = performance.now()
    const client = await pool.connect().catch((error) => {
      giveBack(owner, since)
      throw error
    })
    const release = client.release
    client.release = (discard) => {
      client.release = release
      release(discard)
      giveBack(owner, since)
    }
    return client
  }
  const refuseLate = () => {
    const timeoutMs = pool.options.connectionTimeoutMillis ?? 0
    const before = timeoutMs ? performance.now() - timeoutMs : Number.NEGATIVE_INFINITY
    for (const { refuse } of queue.remove(({ since }) => since < before)) refuse(new Error('timeout exceeded when trying to connect'))
  }
  const startSweeping = sweeper(() => queue.size > 0, refuseLate)
  const wait = (owner: string) =>
    new Promise<void>((start, refuse) => {
      queue.push(owner, { owner, since: performance.now(), start, refuse })
      startSweeping()
    })

  return {
    options: pool.options,
    end: () => pool.end(),
    countWaiting: () => queue.size,
    /** Leaves the last connections to statements that have no other way. */
    hasFree: () => !queue.size && taken < pool.options.max - 2 * reserveOf(pool.options.max),
    async connect() {
      const owner = currentShare()?.owner ?? SERVICE
      // Everyone in the queue has taken all that one owner can have, or there is no connection left.
      if (hasRoom(owner) && !queue.sizeOf(owner)) {
        count(owner, 1)
        return checkOut(owner)
      }
      return wait(owner).then(() => checkOut(owner))
    },
  }
}
