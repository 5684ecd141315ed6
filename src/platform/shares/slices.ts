import { newFairQueue } from './fair-queue.ts'
import { currentShare } from './share.ts'

/** Long enough that switching costs nothing, and short enough that nobody notices the wait. */
const SLICE_MS = 0.5

/** A request waits for several turns of the loop, so most of them have no slice. A turn without work takes microseconds. */
const TURNS_PER_SLICE = 3

const waiting = newFairQueue<() => void>()

/**
 * Waits for the next slice of long work on the event loop. One slice runs in a few turns of the loop, however many requests have
 * long work, and teams take turns. So other requests wait for one slice at most.
 */
const nextSlice = () =>
  new Promise<void>((resolve) => {
    waiting.push(currentShare()?.owner ?? '', resolve)
    if (waiting.size === 1) runSliceAfter(TURNS_PER_SLICE)
  })

function runSliceAfter(turns: number) {
  setImmediate(() => {
    if (turns > 1) return runSliceAfter(turns - 1)
    waiting.take()?.()
    if (waiting.size) runSliceAfter(TURNS_PER_SLICE)
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
