/** The wait after a poll that found work. */
const MIN_WAIT_MS = 100
/** Polling takes a tenth of the time. A slow poll delays the next one by five seconds at most. */
const waitAfter = (pollMs: number) => Math.max(MIN_WAIT_MS, Math.min(10 * pollMs, 5000))

/** Polls when it is called, and again as long as it finds work. Polls never overlap. `poll` returns whether it found work. */
export function startPoller(poll: () => Promise<boolean>, onError: (error: unknown) => void) {
  let polling: Promise<void> | undefined
  let pollAgain = false
  let ended = false
  let timer: NodeJS.Timeout | undefined

  async function pollOnce() {
    const startedAt = performance.now()
    const foundWork = (await poll().catch(onError)) === true
    polling = undefined
    if (!ended && (foundWork || pollAgain)) timer = setTimeout(pollNow, pollAgain ? 0 : waitAfter(performance.now() - startedAt))
    pollAgain = false
  }

  function pollNow() {
    if (ended) return
    clearTimeout(timer)
    timer = undefined
    // The running poll may already be past the new work.
    if (polling) pollAgain = true
    polling ??= pollOnce()
  }

  return {
    pollNow,
    /** Polls unless it is polling, or will soon. */
    async pollIfIdle() {
      if (!polling && !timer) pollNow()
    },
    async end() {
      ended = true
      clearTimeout(timer)
      await polling
    },
  }
}
