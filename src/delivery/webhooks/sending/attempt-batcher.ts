const BATCH_SIZE = 64
const BATCH_WAIT_MS = 2
const BUSY_RETRY_MS = 10
const RETRY_MS = 100

type BatcherOptions<T> = {
  /** Returns the runs that must be recorded later. */
  record(runs: T[]): Promise<T[]>
  /** A failed batch is retried this long before other workers take over. */
  retryForMs: number
  abandon(runs: T[]): void
  onError(error: unknown): void
}

/** Collects finished runs and records them, one batch after another. */
export function attemptBatcher<T>({ record, retryForMs, abandon, onError }: BatcherOptions<T>) {
  let runs: T[] = []
  let timer: NodeJS.Timeout | undefined
  let recording: Promise<void> = Promise.resolve()
  let ending = false

  function add(run: T) {
    runs.push(run)
    if (runs.length >= BATCH_SIZE) flush()
    else timer ??= setTimeout(flush, BATCH_WAIT_MS)
  }

  function flush() {
    clearTimeout(timer)
    timer = undefined
    const batch = runs
    runs = []
    if (batch.length) recording = recording.then(() => recordWithRetry(batch))
    return recording
  }

  /** Retries a batch that could not be recorded, because otherwise its messages would be sent again. */
  async function recordWithRetry(batch: T[], retries = 0): Promise<void> {
    try {
      const busy = await record(batch)
      if (busy.length) setTimeout(() => busy.forEach(add), BUSY_RETRY_MS)
    } catch (error) {
      onError(error)
      if (ending || retries * RETRY_MS > retryForMs) return abandon(batch)
      await new Promise((done) => setTimeout(done, RETRY_MS))
      return recordWithRetry(batch, retries + 1)
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
