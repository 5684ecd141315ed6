/** Polls at an interval, and immediately when `pollNow` is called. Polls never overlap. */
export function startPoller(poll: () => Promise<void>, everyMs: number, onError: (error: unknown) => void) {
  let polling: Promise<void> | undefined
  let pollAgain = false
  let ended = false
  let timer: NodeJS.Timeout | undefined

  function pollNow() {
    if (ended) return
    clearTimeout(timer)
    // The running poll may already be past the new work.
    if (polling) pollAgain = true
    polling ??= poll()
      .catch(onError)
      .finally(() => {
        polling = undefined
        if (!ended) timer = setTimeout(pollNow, pollAgain ? 0 : everyMs)
        pollAgain = false
      })
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
