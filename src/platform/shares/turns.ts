import { tooMany } from '../problem.ts'
import { MINUTE, SECOND } from '../time.ts'
import { type Contention, newContention } from './contention.ts'
import { type FairQueue, newFairQueue } from './fair-queue.ts'
import type { Share } from './share.ts'
import { sweeper } from './sweep.ts'

/** Limits of the requests that one process executes at the same time. They apply during contention. */
export type TurnLimits = {
  /** Contention begins when a second team sends a request, and ends when the others have sent none for this long. Infinity means that it never ends. */
  contentionMs: number
  /** For all teams together. */
  ofProcess: number
  /** For one team. */
  ofOwner: number
  /** A team starts a request beside another of its own only once that one has run for this long, so a long request does not block it. */
  longMs: number
  /** A team with many pending requests pauses for this fraction of the time that the last one took, so the processors have time for others. */
  pause: number
  /** For one key of a team, while several of its keys are in use. */
  ofMember: number
  /** A team can have this many at any time except during its pauses. */
  guaranteed: number
  /** A team with more pending requests than this gets 429. */
  pendingOfOwner: number
  /** A request that is pending for longer gets 429. */
  waitMs: number
}

/** One team leaves at least half of the connections of the pool to others. */
export const TURN_LIMITS: TurnLimits = {
  contentionMs: SECOND,
  ofProcess: 16,
  ofOwner: 2,
  longMs: 100,
  pause: 1,
  ofMember: 1,
  guaranteed: 1,
  pendingOfOwner: 1000,
  waitMs: 10 * SECOND,
}

/** One thread works on all long reads, so more of them at once would only take memory. Gap 355: they also wait while a team is alone. */
export const LONG_READ_LIMITS: TurnLimits = {
  contentionMs: Number.POSITIVE_INFINITY,
  ofProcess: Number.POSITIVE_INFINITY,
  ofOwner: 2,
  longMs: 0,
  pause: 0,
  ofMember: 2,
  guaranteed: 2,
  pendingOfOwner: 1000,
  waitMs: MINUTE,
}

/** A team with more pending requests than this pauses between them. */
const MANY_PENDING = 10
const MAX_PAUSE_MS = 10
/** Owners can be addresses, which are many. */
const MAX_IDLE_OWNERS = 1000

type Pending = { share: Share; since: number; start(): void; refuse(error: unknown): void }
type Owner = {
  running: number
  startedAt: number
  isPaused: boolean
  contention: Contention
  members: Map<string, number>
  pending: FairQueue<Pending>
}

export type Turns = ReturnType<typeof newTurns>

/**
 * Admits requests to their execution. While one team is alone, all of its requests run at once, and this counts them. While
 * several teams are active, each can have a limited number at the same time, and the others are pending: the team that has used
 * the least time is next, and within a team the key that has used the least.
 */
export function newTurns(limits: TurnLimits = TURN_LIMITS, now: () => number = () => performance.now()) {
  const owners = new Map<string, Owner>()
  const queue = newFairQueue<string>()
  const contention = newContention(limits.contentionMs, now)
  let running = 0

  const ownerOf = (name: string) => {
    const known = owners.get(name)
    if (known) return known
    const owner: Owner = {
      running: 0,
      startedAt: Number.MIN_SAFE_INTEGER,
      isPaused: false,
      contention: newContention(limits.contentionMs, now),
      members: new Map(),
      pending: newFairQueue(),
    }
    owners.set(name, owner)
    return owner
  }
  const ownerHasRoom = (owner: Owner) =>
    !contention.isOn() || (!owner.isPaused && (owner.running < limits.guaranteed || hasRoomBesideLong(owner)))
  const hasRoomBesideLong = (owner: Owner) =>
    owner.running < limits.ofOwner && running < limits.ofProcess && now() - owner.startedAt >= limits.longMs
  const memberHasRoom = (owner: Owner, member: string) =>
    !contention.isOn() || !owner.contention.isOn() || (owner.members.get(member) ?? 0) < limits.ofMember

  const count = (owner: Owner, member: string, by: 1 | -1) => {
    if (by > 0) owner.startedAt = now()
    running += by
    owner.running += by
    const ofMember = (owner.members.get(member) ?? 0) + by
    if (ofMember) owner.members.set(member, ofMember)
    else owner.members.delete(member)
  }
  /** The next pending request that may run. The queue has one entry for each. */
  const next = () => {
    const isAllowed = (name: string) => {
      const owner = owners.get(name) as Owner
      return (
        ownerHasRoom(owner) && [...owner.pending.owners()].some((member) => owner.pending.sizeOf(member) && memberHasRoom(owner, member))
      )
    }
    const name = queue.take(isAllowed)
    if (name === undefined) return undefined
    const owner = owners.get(name) as Owner
    return owner.pending.take((member) => memberHasRoom(owner, member))
  }
  const startPending = () => {
    for (let pending = queue.size ? next() : undefined; pending; pending = next()) {
      count(ownerOf(pending.share.owner), pending.share.member, 1)
      pending.start()
    }
  }
  const pause = (owner: Owner, ms: number) => {
    if (owner.isPaused) return
    owner.isPaused = true
    setTimeout(
      () => {
        owner.isPaused = false
        startPending()
      },
      Math.min(ms * limits.pause, MAX_PAUSE_MS),
    )
  }
  /** Contention can end, and a request can wait too long, without any other request. */
  const sweep = () => {
    const before = now() - limits.waitMs
    for (const [name, owner] of owners)
      for (const { refuse } of owner.pending.remove(({ since }) => since < before)) {
        queue.take((other) => other === name)
        refuse(overloaded())
      }
    startPending()
  }
  const startSweeping = sweeper(() => queue.size > 0, sweep)
  const wait = (owner: Owner, share: Share) =>
    new Promise<void>((start, refuse) => {
      if (queue.sizeOf(share.owner) >= limits.pendingOfOwner) return refuse(overloaded())
      queue.push(share.owner, share.owner)
      owner.pending.push(share.member, { share, since: now(), start, refuse })
      // Another key of the team may be the reason why others wait.
      startPending()
      startSweeping()
    })

  return {
    /** Returns a promise only if the request has to wait for its turn. */
    enter(share: Share): Promise<void> | undefined {
      const owner = ownerOf(share.owner)
      contention.see(share.owner)
      owner.contention.see(share.member)
      if (owner.pending.size || !ownerHasRoom(owner) || !memberHasRoom(owner, share.member)) return wait(owner, share)
      count(owner, share.member, 1)
      return undefined
    },
    /** `ms` is the time that the request took. */
    leave(share: Share, ms: number) {
      const owner = ownerOf(share.owner)
      count(owner, share.member, -1)
      queue.charge(share.owner, ms)
      owner.pending.charge(share.member, ms)
      if (owners.size > MAX_IDLE_OWNERS && !owner.running && !owner.pending.size) owners.delete(share.owner)
      if (limits.pause && owner.pending.size > MANY_PENDING && contention.isOn()) pause(owner, ms)
      if (queue.size) startPending()
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
