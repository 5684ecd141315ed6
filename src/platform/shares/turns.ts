import { tooMany } from '../problem.ts'
import { MINUTE, SECOND } from '../time.ts'
import { type FairQueue, newFairQueue } from './fair-queue.ts'
import { isContended, type Share } from './share.ts'
import { sweeper } from './sweep.ts'

export type TurnLimits = {
  /** How many requests of a team run at the same time. */
  atOnce: number
  /** Whether this holds while a team is alone, too. */
  always: boolean
  /** A request that is pending for longer gets 429. */
  waitMs: number
}

export const REQUESTS: TurnLimits = { atOnce: 2, always: false, waitMs: 10 * SECOND }

/** One thread works on all long reads, so more of them at once would only take memory (gap 355). */
export const LONG_READS: TurnLimits = { atOnce: 2, always: true, waitMs: MINUTE }

/** A team with more pending requests than this rests after each, for as long as it took, so that the processors have time for others. */
const MANY_PENDING = 10
const MAX_REST_MS = 10

/** A team with more pending requests than this gets 429. */
export const MAX_PENDING = 1000

const CLOCK = { isContended, now: () => performance.now() }

type Pending = { since: number; start(): void; refuse(error: unknown): void }
type Owner = { running: number; isResting: boolean; pending: FairQueue<Pending> }

export type Turns = ReturnType<typeof newTurns>

/**
 * Admits requests to their execution. While one team is alone, all of its requests run at once. While several teams are active, each
 * has a few at the same time, and the others are pending: the team that has used the least time is next, and within a team the key
 * that has used the least.
 */
export function newTurns({ atOnce, always, waitMs }: TurnLimits = REQUESTS, clock = CLOCK) {
  const owners = new Map<string, Owner>()
  /** The name of an owner for each of its pending requests. */
  const queue = newFairQueue<string>()

  const ownerOf = (name: string) => {
    const owner = owners.get(name) ?? { running: 0, isResting: false, pending: newFairQueue() }
    owners.set(name, owner)
    return owner
  }
  const hasRoom = (name: string) => {
    const { running, isResting } = ownerOf(name)
    return (!always && !clock.isContended()) || (running < atOnce && !isResting)
  }
  const startPending = () => {
    for (let name = queue.take(hasRoom); name !== undefined; name = queue.take(hasRoom)) {
      const owner = ownerOf(name)
      owner.running++
      owner.pending.take()?.start()
    }
  }
  const rest = (owner: Owner, ms: number) => {
    owner.isResting = true
    setTimeout(
      () => {
        owner.isResting = false
        startPending()
      },
      Math.min(ms, MAX_REST_MS),
    )
  }
  /** Contention can end, and a request can wait too long, without any other request. */
  const sweep = () => {
    const before = clock.now() - waitMs
    for (const [name, owner] of owners)
      for (const { refuse } of owner.pending.remove(({ since }) => since < before)) {
        queue.drop(name)
        refuse(overloaded())
      }
    startPending()
  }
  const startSweeping = sweeper(() => queue.size > 0, sweep)
  const wait = (owner: Owner, share: Share) =>
    new Promise<void>((start, refuse) => {
      if (owner.pending.size >= MAX_PENDING) return refuse(overloaded())
      queue.push(share.owner, share.owner)
      owner.pending.push(share.member, { since: clock.now(), start, refuse })
      // Contention can have ended.
      startPending()
      startSweeping()
    })

  return {
    /** Returns a promise only if the request has to wait for its turn. */
    enter(share: Share): Promise<void> | undefined {
      const owner = ownerOf(share.owner)
      if (owner.pending.size || !hasRoom(share.owner)) return wait(owner, share)
      owner.running++
      return undefined
    },
    /** `ms` is the time that the request took. */
    leave(share: Share, ms: number) {
      const owner = ownerOf(share.owner)
      owner.running--
      queue.charge(share.owner, ms)
      owner.pending.charge(share.member, ms)
      if (owner.pending.size > MANY_PENDING && !owner.isResting && clock.isContended()) rest(owner, ms)
      if (!owner.running && !owner.pending.size) owners.delete(share.owner)
      startPending()
    },
    get pending() {
      return queue.size
    },
  }
}

const overloaded = () =>
  tooMany('TEAM_OVERLOADED', 'The service is busy, and your team has more requests at the same time than its share. Send fewer at once.', 2)

/** Runs work once it is the turn of the share. */
export async function inTurn<T>(turns: Turns, share: Share, work: () => Promise<T>): Promise<T> {
  const turn = turns.enter(share)
  if (turn) await turn
  const startedAt = performance.now()
  try {
    return await work()
  } finally {
    turns.leave(share, performance.now() - startedAt)
  }
}
