/** The size of a batch, and the milliseconds to wait for one to fill. */
const TOGETHER = 64
const SOON = 2
const BUSY = 10
const RETRY = 100

type Recording<T> = {
  /** Returns the runs that have to be recorded later. */
  record(turns: T[]): Promise<T[]>
  /** How long a failed batch is retried before other workers take over. */
  patienceMs: number
  leave(turns: T[]): void
  failed(error: unknown): void
}

/** Collects finished runs and records them, one batch after another. */
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

  /** Retries a batch that could not be recorded, because otherwise its messages would be sent again. */
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
