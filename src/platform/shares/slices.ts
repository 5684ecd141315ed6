import { newFairQueue } from './fair-queue.ts'
import { currentShare } from './share.ts'

/** Long enough that switching costs nothing, and short enough that nobody notices the wait. */
const SLICE_MS = 0.5

/** A request waits for several turns of the loop, so most of them have no slice. While others have work, even fewer have one. */
const [MIN_TURNS, MAX_TURNS] = [3, 6]
/** A turn without work is shorter. */
const IDLE_TURN_MS = 0.1

const waiting = newFairQueue<{ owner: string; start(): void }>()

/**
 * Waits for the next slice of long work on the event loop. One slice runs in a few turns of the loop, however many requests have
 * long work, and teams take turns. So other requests wait for one slice at most.
 */
const nextSlice = () =>
  new Promise<void>((start) => {
    const owner = currentShare()?.owner ?? ''
    waiting.push(owner, { owner, start })
    if (waiting.size === 1) runNextSlice()
  })

function runNextSlice(turn = 1) {
  const startedAt = performance.now()
  setImmediate(() => {
    const isBusy = performance.now() - startedAt > IDLE_TURN_MS
    if (turn < MIN_TURNS || (isBusy && turn < MAX_TURNS)) return runNextSlice(turn + 1)
    const next = waiting.take()
    if (!next) return
    waiting.charge(next.owner, 1)
    next.start()
    if (waiting.size) runNextSlice()
  })
}

/** Cuts long work into slices: call the returned function between steps, and wait if it returns a promise. */
export function cutIntoSlices(): () => Promise<void> | undefined {
  let until = performance.now() + SLICE_MS
  return () => {
    if (performance.now() < until) return undefined
    return nextSlice().then(() => {
      until = performance.now() + SLICE_MS
    })
  }
}

const STEPS_PER_CHECK = 100

/** Maps a long list in slices. `steps` is the number of items after which it checks whether the slice is over. */
export async function mapInSlices<T, R>(items: readonly T[], map: (item: T) => R, steps = STEPS_PER_CHECK): Promise<R[]> {
  const endSlice = cutIntoSlices()
  const mapped: R[] = []
  for (let i = 0; i < items.length; i++) {
    if (i % steps === 0) {
      const pause = endSlice()
      if (pause) await pause
    }
    mapped.push(map(items[i] as T))
  }
  return mapped
}
