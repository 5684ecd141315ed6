const BATCH_SIZE = 64
/** Runs that waited for an earlier batch. */
const NEXT_BATCH_MS = 2
const BUSY_RETRY_MS = 10
const RETRY_MS = 100
/** Batches recorded at the same time, each of another team. */
const BATCHES_AT_ONCE = 4

type BatcherOptions<T> = {
  /** Records runs of one team. Returns the runs that must be recorded later. */
  record(team_id: string, runs: T[]): Promise<T[]>
  /** How long a run may wait for others of its batch. */
  waitMs(run: T): number
  /** A failed batch is retried for this long before it is abandoned. */
  retryForMs: number
  abandon(team_id: string, runs: T[]): void
  onError(error: unknown): void
}

/** Collects finished runs and records them by team, for each team one batch after another. */
export function attemptBatcher<T extends { team_id: string }>({ record, waitMs, retryForMs, abandon, onError }: BatcherOptions<T>) {
  const pending = new Map<string, T[]>()
  const recording = new Map<string, Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let flushAt = Number.POSITIVE_INFINITY
  let ending = false

  function add(run: T) {
    const runs = pending.get(run.team_id) ?? []
    runs.push(run)
    pending.set(run.team_id, runs)
    if (runs.length >= BATCH_SIZE) flush()
    else flushWithin(waitMs(run))
  }

  function flushWithin(ms: number) {
    const at = performance.now() + ms
    if (at >= flushAt) return
    clearTimeout(timer)
    flushAt = at
    timer = setTimeout(flush, ms)
  }

  /** Teams that have to wait are flushed when a batch is done. */
  function flush() {
    clearTimeout(timer)
    flushAt = Number.POSITIVE_INFINITY
    for (const [team_id, runs] of pending) {
      if (recording.size >= BATCHES_AT_ONCE) return
      if (!recording.has(team_id)) startBatch(team_id, runs)
    }
  }

  /** A team with more runs goes to the end of the queue. */
  function startBatch(team_id: string, runs: T[]) {
    const batch = runs.splice(0, BATCH_SIZE)
    pending.delete(team_id)
    if (runs.length) pending.set(team_id, runs)
    const recorded = recordWithRetry(team_id, batch).finally(() => {
      recording.delete(team_id)
      if (runs.length >= BATCH_SIZE) flush()
      else if (pending.size) flushWithin(NEXT_BATCH_MS)
    })
    recording.set(team_id, recorded)
  }

  /** Retries a batch that could not be recorded, because otherwise its messages would be sent again. */
  async function recordWithRetry(team_id: string, batch: T[], retries = 0): Promise<void> {
    try {
      const busy = await record(team_id, batch)
      if (busy.length) setTimeout(() => busy.forEach(add), BUSY_RETRY_MS)
    } catch (error) {
      onError(error)
      if (ending || retries * RETRY_MS > retryForMs) return abandon(team_id, batch)
      await new Promise((done) => setTimeout(done, RETRY_MS))
      return recordWithRetry(team_id, batch, retries + 1)
    }
  }

  return {
    add,
    /** Starts recording what is pending and waits for the batches in progress. */
    async flush() {
      flush()
      await Promise.all(recording.values())
    },
    end: () => {
      ending = true
    },
  }
}
