import { newFairQueue } from './fair-queue.ts'
import { currentShare, isContended, seeOwner } from './share.ts'

/** Long enough that switching costs nothing, and short enough that nobody notices the wait. */
const SLICE_MS = 0.5
/** While several teams are active, a request waits for several slices. */
const SHARED_SLICE_MS = 0.25

/** A request waits for several turns of the loop, so most of them have no slice. */
const MIN_TURNS = 2
/** While several teams are active, long work pauses after a turn with other work, up to this many times per slice. */
const MAX_PAUSES = 3
const PAUSE_MS = 1
/** A turn without work is shorter. */
const IDLE_TURN_MS = 0.1

const waiting = newFairQueue<{ owner: string; start(): void }>()

/**
 * Waits for the next slice of long work on the event loop. One slice runs in a few turns of the loop, however many requests have
 * long work, and teams take turns. So other requests wait for one slice at most.
 */
const nextSlice = (owner: string) =>
  new Promise<void>((start) => {
    waiting.push(owner, { owner, start })
    if (waiting.size === 1) runNextSlice()
  })

function runNextSlice(turn = 1, pauses = 0) {
  const startedAt = performance.now()
  setImmediate(() => {
    const isBusy = performance.now() - startedAt > IDLE_TURN_MS
    if (isBusy && pauses < MAX_PAUSES && isContended()) return void setTimeout(runNextSlice, PAUSE_MS, turn + 1, pauses + 1)
    if (turn < MIN_TURNS) return runNextSlice(turn + 1, pauses)
    const next = waiting.take()
    if (!next) return
    waiting.charge(next.owner, 1)
    if (next.owner) seeOwner(next.owner)
    next.start()
    if (waiting.size) runNextSlice()
  })
}

/**
 * Cuts long work into slices: call the returned function between steps, and wait if it returns a promise. Work that has not `begun`
 * waits for its first slice too.
 */
export function cutIntoSlices({ begun = true } = {}): () => Promise<void> | undefined {
  // The steps can run in events of a stream, which do not know whom they work for.
  const owner = currentShare()?.owner ?? ''
  const endOfSlice = () => performance.now() + (isContended() ? SHARED_SLICE_MS : SLICE_MS)
  let until = begun ? endOfSlice() : 0
  return () => {
    if (performance.now() < until) return undefined
    return nextSlice(owner).then(() => {
      until = endOfSlice()
    })
  }
}
