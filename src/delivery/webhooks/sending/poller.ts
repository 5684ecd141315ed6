/** Polls soon after a poll that found work, and then less and less often. */
const MIN_WAIT_MS = 100
const MAX_WAIT_MS = 1000
/** Polling takes a tenth of the time. A poll that hung in a database outage delays the next one by five seconds at most. */
const waitAfter = (pollMs: number) => Math.min(10 * pollMs, 5000)

/** Polls until it ends, and immediately when `pollNow` is called. Polls never overlap. `poll` returns whether it found work. */
export function startPoller(poll: () => Promise<boolean>, onError: (error: unknown) => void) {
  let polling: Promise<void> | undefined
  let pollAgain = false
  let ended = false
  let timer: NodeJS.Timeout | undefined
  let waitMs = MIN_WAIT_MS

  async function pollOnce() {
    const startedAt = performance.now()
    const foundWork = (await poll().catch(onError)) === true
    waitMs = foundWork ? MIN_WAIT_MS : Math.min(2 * waitMs, MAX_WAIT_MS)
    polling = undefined
    if (!ended) timer = setTimeout(pollNow, pollAgain ? 0 : Math.max(waitMs, waitAfter(performance.now() - startedAt)))
    pollAgain = false
  }

  function pollNow() {
    if (ended) return
    clearTimeout(timer)
    // The running poll may already be past the new work.
    if (polling) pollAgain = true
    polling ??= pollOnce()
  }

  return {
    pollNow,
    async end() {
      ended = true
      clearTimeout(timer)
      await polling
    },
  }
}
