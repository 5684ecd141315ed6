import { newFairQueue } from './fair-queue.ts'
import { currentShare, seeOwner } from './share.ts'

/** Long enough that switching costs little, and short enough that nobody notices the wait. */
const SLICE_MS = 0.25
/** A request waits for several turns of the loop, so most of them have no slice. */
const TURNS = 2

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

function runNextSlice(turn = 1) {
  setImmediate(() => {
    if (turn < TURNS) return runNextSlice(turn + 1)
    const next = waiting.take()
    if (!next) return
    waiting.charge(next.owner, 1)
    if (next.owner) seeOwner(next.owner)
    next.start()
    if (waiting.size) runNextSlice()
  })
}

/** Long work that can pause wherever it yields. Rules have this form, because they cannot wait. */
type Steps<T> = Generator<undefined, T>

/** Runs long work in slices. */
export async function runInSlices<T>(steps: Steps<T>): Promise<T> {
  const endSlice = cutIntoSlices()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    const pause = endSlice()
    if (pause) await pause
  }
}

/** Runs work without pauses, where there is little of it. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value
}

/**
 * Cuts long work into slices: call the returned function between steps, and wait if it returns a promise. Work that has not `begun`
 * waits for its first slice too.
 */
export function cutIntoSlices({ begun = true } = {}): () => Promise<void> | undefined {
  // The steps can run in events of a stream, which do not know whom they work for.
  const owner = currentShare()?.owner ?? ''
  let until = begun ? performance.now() + SLICE_MS : 0
  return () => {
    if (performance.now() < until) return undefined
    return nextSlice(owner).then(() => {
      until = performance.now() + SLICE_MS
    })
  }
}
