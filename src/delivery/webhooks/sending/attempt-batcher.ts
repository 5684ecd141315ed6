/** Turns are recorded together: as many, or after so many milliseconds. */
const TOGETHER = 64
const SOON = 2
const BUSY = 10
const RETRY = 100

type Recording<T> = {
  /** Answers those that are to be recorded later. */
  record(turns: T[]): Promise<T[]>
  /** After so long, what could not be recorded is left to others. */
  patienceMs: number
  leave(turns: T[]): void
  failed(error: unknown): void
}

/** Gathers what was sent and records it, one batch after the other. */
export function attemptBatcher<T>({ record, patienceMs, leave, failed }: Recording<T>) {
  let turns: T[] = []
  let soon: NodeJS.Timeout | undefined
  let recording: Promise<void> = Promise.resolve()
  let ending = false

  function add(turn: T) {
    turns.push(turn)
    if (turns.length >= TOGETHER) flush()
    else soon ??= setTimeout(flush, SOON)
  }

  function flush() {
    clearTimeout(soon)
    soon = undefined
    const batch = turns
    turns = []
    if (batch.length) recording = recording.then(() => insist(batch))
    return recording
  }

  /** A batch that could not be recorded is tried again: what was sent must not be sent once more for want of a note. */
  async function insist(batch: T[], tries = 0): Promise<void> {
    try {
      const busy = await record(batch)
      if (busy.length) setTimeout(() => busy.forEach(add), BUSY)
    } catch (error) {
      failed(error)
      if (ending || tries * RETRY > patienceMs) return leave(batch)
      await new Promise((done) => setTimeout(done, RETRY))
      return insist(batch, tries + 1)
    }
  }

  return {
    add,
    flush,
    end: () => {
      ending = true
    },
  }
}
